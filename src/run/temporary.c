#include "run/temporary.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "run/output.h"

static const char tag[] = ".gpuimg-";
static const char ending[] = ".tmp";

void gi_temporary_name(char text[GI_TEMPORARY_SIZE], const char *name, size_t limit, unsigned long number) {
    char tail[64];
    size_t tail_length = (size_t)snprintf(tail, sizeof tail, "%s%ld-%lu%s", tag, (long)getpid(), number, ending);
    if (limit > GI_TEMPORARY_SIZE - 1) limit = GI_TEMPORARY_SIZE - 1;
    size_t room = limit > tail_length + 1 ? limit - tail_length - 1 : 0;
    size_t length = strlen(name);
    if (length > room) {
        length = room;
        while (length > 0 && ((unsigned char)name[length] & 0xC0) == 0x80) length--;
    }
    snprintf(text, GI_TEMPORARY_SIZE, ".%.*s%s", (int)length, name, tail);
}

// Steps back over the digits before `end`; NULL when there is none.
static const char *back_over_digits(const char *begin, const char *end) {
    const char *p = end;
    while (p > begin && p[-1] >= '0' && p[-1] <= '9') p--;
    return p == end ? NULL : p;
}

bool gi_temporary_matches(const char *name) {
    size_t length = strlen(name);
    size_t tag_length = sizeof tag - 1, ending_length = sizeof ending - 1;
    if (name[0] != '.' || length < ending_length) return false;
    const char *p = name + length - ending_length;
    if (strcmp(p, ending) != 0) return false;
    p = back_over_digits(name, p);
    if (!p || p == name || p[-1] != '-') return false;
    p = back_over_digits(name, p - 1);
    return p && (size_t)(p - name) >= tag_length + 1 && memcmp(p - tag_length, tag, tag_length) == 0;
}

// A place goes FREE -> TAKEN -> LIVE -> FREE; the handler takes LIVE -> TAKEN and never gives it back: the process
// ends.
enum { FREE, TAKEN, LIVE };
enum { PLACES = 256 };
static struct place {
    atomic_int state;
    int directory_fd;
    char name[GI_TEMPORARY_SIZE];
} places[PLACES];

int gi_temporary_register(int directory_fd, const char *name) {
    for (int i = 0; i < PLACES; i++) {
        int expected = FREE;
        if (!atomic_compare_exchange_strong(&places[i].state, &expected, TAKEN)) continue;
        places[i].directory_fd = directory_fd;
        snprintf(places[i].name, sizeof places[i].name, "%s", name);
        atomic_store(&places[i].state, LIVE);
        return i;
    }
    return -1;
}

void gi_temporary_forget(int index) {
    int expected = LIVE;
    if (index >= 0) atomic_compare_exchange_strong(&places[index].state, &expected, FREE);
}

void gi_output_remove_all(void) {
    for (int i = 0; i < PLACES; i++) {
        int expected = LIVE;
        if (atomic_compare_exchange_strong(&places[i].state, &expected, TAKEN))
            unlinkat(places[i].directory_fd, places[i].name, 0);
    }
}
