// How many threads an OpenMP team may have where the system does not allow as many as there are cores.
#ifndef GI_CPU_TEAM_H
#define GI_CPU_TEAM_H

// At most `wanted` threads (below 1 counts as 1), the calling one among them. The OpenMP runtime ends the whole process
// when it cannot start a thread (a limit on processes, tasks of a container, or address space), so the first call for
// more than one tries once how many can be started at the same time; where they are fewer than the cores, every team
// gets its part of them. Call it before every team; thread-safe.
int gi_cpu_team(int wanted);

#endif
