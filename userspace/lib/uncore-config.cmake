# SPDX-License-Identifier: LGPL-2.1-or-later
# find_package(uncore): the targets uncore::uncore for C++, which is
# uncore::uncore-shared, uncore::uncore-c for C, and uncore::uncore-static.
include(${CMAKE_CURRENT_LIST_DIR}/uncore-targets.cmake)
if(NOT TARGET uncore::uncore)
	add_library(uncore::uncore INTERFACE IMPORTED)
	target_link_libraries(uncore::uncore INTERFACE uncore::uncore-shared)
endif()
