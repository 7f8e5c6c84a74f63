#include "cli/machine.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

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
