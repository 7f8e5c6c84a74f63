// What stands around the images of the HTML report: style sheet, beginning and end.
#ifndef GI_CLI_HTML_PAGE_H
#define GI_CLI_HTML_PAGE_H

extern const char gi_html_head[], gi_html_more_head[];
extern const char gi_html_foot[];

#endif
