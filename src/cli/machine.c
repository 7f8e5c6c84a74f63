#include "cli/machine.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

bool gi_cpuinfo(const char *key, char *value, size_t size) {
    bool found = false;
    char line[8192];
    FILE *file = fopen("/proc/cpuinfo", "re");
    while (file && !found && fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, key, strlen(key)) != 0 || !colon) continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(value, size, "%s", colon + 1 + strspn(colon + 1, " "));
        found = true;
    }
    if (file) fclose(file);
    return found;
}

// The first word that begins with a digit and holds a dot.
static const char *version_in(char *line) {
    for (char *word = strtok(line, " \t\n"); word; word = strtok(NULL, " \t\n"))
        if (isdigit((unsigned char)*word) && strchr(word, '.')) return word;
    return NULL;
}

bool gi_gpu_driver(char *version, size_t size) {
    char line[512] = "";
    FILE *file = fopen("/proc/driver/nvidia/version", "re");
    const char *found = file && fgets(line, sizeof line, file) ? version_in(line) : NULL;
    if (found) snprintf(version, size, "%s", found);
    if (file) fclose(file);
    return found;
}

// The number behind `key` at the beginning of a line of the file; with an empty key, of its first line.
static bool number_in(const char *path, const char *key, uint64_t *number) {
    char line[256];
    bool found = false;
    FILE *file = fopen(path, "re");
    while (file && !found && fgets(line, sizeof line, file))
        found = strncmp(line, key, strlen(key)) == 0 && sscanf(line + strlen(key), "%" SCNu64, number) == 1;
    if (file) fclose(file);
    return found;
}

// What the control groups, from this process's up to the root, leave beside what cannot be dropped.
static uint64_t left_by_groups(uint64_t most) {
    char line[PATH_MAX] = "", path[PATH_MAX + 64];
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file && fgets(line, sizeof line, file) && strncmp(line, "0::", 3) != 0) *line = '\0';
    if (file) fclose(file);
    line[strcspn(line, "\n")] = '\0';
    for (char *group = *line ? line + 3 : NULL, *slash = group; slash; *slash = '\0') {
        uint64_t limit = 0, used = 0;
        snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.max", group);
        const bool limited = number_in(path, "", &limit); // else "max"
        snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.stat", group);
        if (limited && number_in(path, "anon ", &used) && (used >= limit || limit - used < most))
            most = used < limit ? limit - used : 1;
        slash = strrchr(group, '/');
        if (!slash) break;
    }
    return most;
}

uint64_t gi_memory_free(void) {
    uint64_t kilobytes = 0;
    if (!number_in("/proc/meminfo", "MemAvailable:", &kilobytes)) return 0;
    return left_by_groups(kilobytes * 1024);
}

void gi_memory_limit(uint64_t more_bytes) {
    uint64_t kilobytes = 0;
    struct rlimit limit;
    if (!number_in("/proc/self/status", "VmData:", &kilobytes) || getrlimit(RLIMIT_DATA, &limit) != 0) return;
    const rlim_t wanted = (rlim_t)kilobytes * 1024 + more_bytes;
    if (limit.rlim_max == RLIM_INFINITY || wanted < limit.rlim_max) limit.rlim_cur = wanted;
    (void)setrlimit(RLIMIT_DATA, &limit);
}
