// Which file a path names, whether or not there is one.
#ifndef GI_RUN_PATH_KEY_H
#define GI_RUN_PATH_KEY_H

// The last parent looked up, since neighbours in a list mostly share it. Begins zeroed.
typedef struct gi_path_parents {
    char *parent, *key;
} gi_path_parents;

void gi_path_parents_free(gi_path_parents *cache);

// A text that is the same for all ways to write a path: "DEVICE:INODE/rest", where the inode is that of the nearest
// directory that exists, and rest is what lies below it. Links in the last component are followed, as outputs do. NULL
// when memory is exhausted; the caller frees.
char *gi_path_key(const char *path, gi_path_parents *cache);

// The longest part of `path` that exists, as a directory's path; what lies below it goes to *rest, which begins with a
// slash or is empty. NULL when memory is exhausted; the caller frees both.
char *gi_path_nearest(const char *path, char **rest);

#endif
