# Run by cpack over the tree that becomes a package: what Debian wants elsewhere, or otherwise.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
    return()
endif()
file(GLOB_RECURSE files ${CPACK_TEMPORARY_DIRECTORY}/*)
foreach(file IN LISTS files)
    if(file MATCHES "/man1/[^/]*[.]1$")
        execute_process(COMMAND gzip -9n ${file} COMMAND_ERROR_IS_FATAL ANY)
    elseif(file MATCHES "^(.*/doc/gpuimg)/LICENSE$")
        file(RENAME ${file} ${CMAKE_MATCH_1}/copyright)
        string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
        file(WRITE ${CMAKE_MATCH_1}/changelog "gpuimg (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium\n\n"
            "  * Packaged from the sources of that version.\n\n -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
        execute_process(COMMAND gzip -9n ${CMAKE_MATCH_1}/changelog COMMAND_ERROR_IS_FATAL ANY)
    elseif(file MATCHES "^(.*/zsh)/site-functions/_gpuimg$")
        # Debian's zsh looks there alone.
        file(RENAME ${CMAKE_MATCH_1}/site-functions ${CMAKE_MATCH_1}/vendor-completions)
    endif()
endforeach()
