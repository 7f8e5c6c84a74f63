#include "cpu/cores.h"

#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cpu/backend_cpu.h"

// Affinity masks grow with the machine: the call fails with EINVAL while the set is smaller than the kernel's.
enum { FIRST_SET_CPUS = 1024, LAST_SET_CPUS = 1 << 20 };

static int affinity_cores(void) {
    for (size_t cpus = FIRST_SET_CPUS; cpus <= LAST_SET_CPUS; cpus *= 2) {
        cpu_set_t *set = CPU_ALLOC(cpus);
        if (!set) break;
        size_t size = CPU_ALLOC_SIZE(cpus);
        int count = sched_getaffinity(0, size, set) == 0 ? CPU_COUNT_S(size, set) : 0;
        CPU_FREE(set);
        if (count > 0) return count;
    }
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 && online < INT_MAX ? (int)online : 1;
}

// quota and period in microseconds; 0 for "no quota" and for nonsense.
static int quota_cores(long long quota, long long period) {
    if (quota <= 0 || period <= 0) return 0;
    long long cores = quota / period + (quota % period != 0);
    return cores < INT_MAX ? (int)cores : INT_MAX;
}

static bool read_line(const char *path, char *line, size_t size) {
    FILE *file = fopen(path, "re");
    if (!file) return false;
    bool read = fgets(line, (int)size, file) != NULL;
    fclose(file);
    return read;
}

// cpu.max: "QUOTA PERIOD", or "max PERIOD".
static int group_cores_v2(const char *folder) {
    char path[PATH_MAX], line[128];
    long long quota = 0, period = 0;
    if (snprintf(path, sizeof path, "%s/cpu.max", folder) >= (int)sizeof path) return 0;
    if (!read_line(path, line, sizeof line) || sscanf(line, "%lld %lld", &quota, &period) != 2) return 0;
    return quota_cores(quota, period);
}

// Two files; a quota of -1 is none.
static int group_cores_v1(const char *folder) {
    char path[PATH_MAX], line[128];
    if (snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", folder) >= (int)sizeof path) return 0;
    if (!read_line(path, line, sizeof line)) return 0;
    long long quota = strtoll(line, NULL, 10);
    if (snprintf(path, sizeof path, "%s/cpu.cfs_period_us", folder) >= (int)sizeof path) return 0;
    if (!read_line(path, line, sizeof line)) return 0;
    return quota_cores(quota, strtoll(line, NULL, 10));
}

// The smallest quota from group `path` (which it cuts short) up to the hierarchy's root.
static int smallest_quota(const char *mount, char *path, int (*group_cores)(const char *folder)) {
    int smallest = 0;
    for (;;) {
        char folder[PATH_MAX];
        if (snprintf(folder, sizeof folder, "%s%s", mount, path) < (int)sizeof folder) {
            int cores = group_cores(folder);
            if (cores > 0 && (smallest == 0 || cores < smallest)) smallest = cores;
        }
        char *slash = strrchr(path, '/');
        if (!slash) return smallest;
        *slash = '\0';
    }
}

// True when the comma-separated list of version 1 controllers names `cpu`.
static bool lists_cpu(const char *controllers) {
    for (const char *word = controllers; word; word = strchr(word, ',')) {
        if (*word == ',') word++;
        size_t length = strcspn(word, ",");
        if (length == 3 && memcmp(word, "cpu", 3) == 0) return true;
    }
    return false;
}

// A line is "ID:CONTROLLERS:PATH"; version 2 has no controllers there.
static int line_cores(char *line, const char *mount) {
    line[strcspn(line, "\n")] = '\0';
    char *controllers = strchr(line, ':');
    char *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path) return 0;
    *path++ = '\0';
    controllers++;
    if (strcmp(path, "/") == 0) *path = '\0';
    if (*controllers == '\0') return smallest_quota(mount, path, group_cores_v2);
    char cpu_mount[PATH_MAX];
    if (!lists_cpu(controllers) || snprintf(cpu_mount, sizeof cpu_mount, "%s/cpu", mount) >= (int)sizeof cpu_mount)
        return 0;
    return smallest_quota(cpu_mount, path, group_cores_v1);
}

int gi_cgroup_cores(const char *membership, const char *mount) {
    FILE *file = fopen(membership, "re");
    if (!file) return 0;
    char line[PATH_MAX];
    int smallest = 0;
    while (fgets(line, sizeof line, file)) {
        int cores = line_cores(line, mount);
        if (cores > 0 && (smallest == 0 || cores < smallest)) smallest = cores;
    }
    fclose(file);
    return smallest;
}

int gi_cpu_cores(void) {
    int cores = affinity_cores();
    int quota = gi_cgroup_cores("/proc/self/cgroup", "/sys/fs/cgroup");
    return quota > 0 && quota < cores ? quota : cores;
}
