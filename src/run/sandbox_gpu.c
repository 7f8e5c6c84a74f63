#include "run/sandbox_gpu.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda/backend_cuda.h"
#include "run/landlock.h"

// Of a file in /dev: a GPU of a desktop or server, of a Jetson, or of Windows as WSL passes it on. (nvme0 is a disk.)
static bool is_device(const char *name) {
    static const char *const beginnings[] = {"nvidia", "nvhost", "nvmap", "nvgpu", "nvsciipc", "dxg"};
    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++)
        if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0) return true;
    return false;
}

// Counts them, and allows them where there is a sandbox.
static int visit_devices(gi_sandbox *sandbox) {
    DIR *stream = opendir("/dev");
    int count = 0;
    for (struct dirent *entry; stream && (entry = readdir(stream));) {
        char path[sizeof entry->d_name + 8];
        if (!is_device(entry->d_name)) continue;
        count++;
        snprintf(path, sizeof path, "/dev/%s", entry->d_name);
        if (sandbox) gi_sandbox_allow(sandbox, path, GI_LANDLOCK_WRITE | GI_LANDLOCK_DEVICE);
    }
    if (stream) closedir(stream);
    return count;
}

// Where the variable says, else below the folder; written to only where it is there already.
static void allow_place(gi_sandbox *sandbox, const char *variable, const char *folder, const char *below) {
    char path[PATH_MAX];
    const char *named = getenv(variable);
    if (!named && !folder) return;
    int length = named ? snprintf(path, sizeof path, "%s", named) : snprintf(path, sizeof path, "%s%s", folder, below);
    if (length < (int)sizeof path && *path)
        gi_sandbox_allow(sandbox, path, GI_LANDLOCK_WRITE | GI_LANDLOCK_FILES | GI_LANDLOCK_FOLDERS);
}

void gi_sandbox_allow_gpu(gi_sandbox *sandbox) {
    visit_devices(sandbox);
    gi_sandbox_allow(sandbox, "/dev/shm", GI_LANDLOCK_WRITE | GI_LANDLOCK_FILES);
    allow_place(sandbox, "CUDA_MPS_PIPE_DIRECTORY", "/tmp", "/nvidia-mps");
    allow_place(sandbox, "CUDA_CACHE_PATH", getenv("HOME"), "/.nv/ComputeCache");
}

bool gi_sandbox_finds_gpu(void) {
    const char *about;
    char reason[256];
    if (!gi_cuda_built(&about)) return false;
    if (access("/dev/nvidia-uvm", F_OK) != 0 && access("/usr/bin/nvidia-modprobe", X_OK) == 0)
        (void)gi_cuda_device_count(reason, sizeof reason);
    return visit_devices(NULL) > 0;
}
