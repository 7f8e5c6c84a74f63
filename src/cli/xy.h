// A place in a picture: x to the right, y down, in pixels from the upper left corner.
#ifndef GI_CLI_XY_H
#define GI_CLI_XY_H

typedef struct gi_xy {
    float x, y;
} gi_xy;

#endif
