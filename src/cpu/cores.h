// How many cores a control group's quota leaves.
#ifndef GI_CPU_CORES_H
#define GI_CPU_CORES_H

// The smallest quota of this process's control group and of those above it, in cores, rounded up; 0: none is set.
// `membership` is the text file that names the groups (/proc/self/cgroup), `mount` the folder of the hierarchy
// (/sys/fs/cgroup): version 2 (cpu.max) or version 1 (cpu/cpu.cfs_quota_us).
int gi_cgroup_cores(const char *membership, const char *mount);

#endif
