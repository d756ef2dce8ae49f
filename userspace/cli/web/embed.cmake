# SPDX-License-Identifier: GPL-2.0-or-later
# Writes the files of the die map's page into a C++ source file, as arrays with their paths:
# cmake -DOUT=... -DFOLDER=... -DFILES=a;b -P embed.cmake.  index.html has the path "/".
set(types .html "text/html" .css "text/css" .js "text/javascript")
set(arrays "")
set(table "")
foreach(name ${FILES})
	get_filename_component(extension ${name} LAST_EXT)
	list(FIND types ${extension} at)
	math(EXPR at "${at} + 1")
	list(GET types ${at} type)
	string(MAKE_C_IDENTIFIER ${name} symbol)
	file(READ ${FOLDER}/${name} bytes HEX)
	string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${bytes}")
	set(path /${name})
	if(name STREQUAL index.html)
		set(path /)
	endif()
	string(APPEND arrays
		"constexpr char file_${symbol}[] = {${bytes}};\n")
	string(APPEND table "\t{\"${path}\", \"${type}; charset=utf-8\",\n"
		"\t {file_${symbol}, sizeof(file_${symbol})}},\n")
endforeach()
file(WRITE ${OUT} "// made by web/embed.cmake\n"
	"#include \"serve/web_files.hpp\"\n\nnamespace {\n\n${arrays}\n"
	"constexpr cli::web_file files[] = {\n${table}};\n\n}\n\n"
	"std::span<const cli::web_file> cli::web_files()\n"
	"{\n\treturn files;\n}\n")
