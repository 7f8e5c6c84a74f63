# Reads the rows of src/core/stages.h: GPUIMG_POINT_STAGES, GPUIMG_WINDOW_STAGES, GPUIMG_MEASURE_STAGES. A stage without
# its oracle test is a configure error; one without its code is a link error.
set(stage_table ${PROJECT_SOURCE_DIR}/src/core/stages.h)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${stage_table})
# Not by lines: in a CMake list the backslash that ends each of them would join it to the next.
file(READ ${stage_table} text)
string(REGEX MATCHALL "\n    STAGE\\((POINT|WINDOW|MEASURE), [a-z0-9]+," rows "${text}")
foreach(row IN LISTS rows)
    string(REGEX REPLACE ".*\\(([A-Z]+), ([a-z0-9]+)," "\\1;\\2" pair "${row}")
    list(GET pair 0 kind)
    list(GET pair 1 name)
    list(APPEND GPUIMG_${kind}_STAGES ${name})
    if(NOT EXISTS ${PROJECT_SOURCE_DIR}/tests/oracle/test_${name}.py)
        message(FATAL_ERROR "stage '${name}' has no test: tests/oracle/test_${name}.py is missing")
    endif()
endforeach()
if(NOT rows)
    message(FATAL_ERROR "no stage found in ${stage_table}")
endif()
