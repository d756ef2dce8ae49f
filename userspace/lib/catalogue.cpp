// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Look-ups in the compiled-in event catalogue.

#include <uncore/catalogue.hpp>

#include <algorithm>
#include <vector>

#include <uncore/topology.hpp>

#include "catalogue_tables.hpp"
#include "text.hpp"

namespace uncore {

namespace {

const std::vector<catalogue> &all_catalogues()
{
	static const auto catalogues = [] {
		std::vector<catalogue> list;

		for (const catalogue_tables *tables : catalogue_tables::all)
			list.push_back(catalogue_tables::make(*tables));
		return list;
	}();

	return catalogues;
}

} // namespace

const catalogue_tables *catalogue_tables::find(std::string_view generation)
{
	for (const catalogue_tables *tables : all)
		if (tables->generation == generation)
			return tables;
	return nullptr;
}

const catalogue_tables &catalogue_tables::of(const topology &machine)
{
	return *find(catalogue::of(machine).generation());
}

std::string_view catalogue_tables::box_with(std::string_view role,
					    std::string_view part) const
{
	for (const box_role &entry : roles)
		if (entry.role == role && entry.part == part)
			return entry.box;
	return {};
}

const box_role *catalogue_tables::role_of(std::string_view box) const
{
	for (const box_role &entry : roles)
		if (entry.box == box)
			return &entry;
	return nullptr;
}

std::string_view catalogue_tables::box_of(foreign_box::tool used_by,
					  std::string_view name) const
{
	for (const foreign_box &entry : foreign_boxes)
		if (entry.used_by == used_by && same_name(entry.name, name))
			return entry.box;
	return {};
}

catalogue catalogue_tables::make(const catalogue_tables &tables)
{
	catalogue view;

	view.generation_ = tables.generation;
	view.title_ = tables.title;
	view.boxes_ = tables.boxes;
	view.fields_ = tables.fields;
	view.events_ = tables.events;
	view.values_ = tables.values;
	view.metrics_ = tables.metrics;
	return view;
}

const metric_group *metric_group::find(std::string_view name)
{
	for (const metric_group &group : all)
		if (same_name(group.name, name))
			return &group;
	return nullptr;
}

std::vector<const metric_info *>
metric_group::leading_of(const catalogue &names) const
{
	std::vector<const metric_info *> metrics;

	for (const leading_metric &metric : leading)
		if (const metric_info *info = names.metric(metric.name))
			metrics.push_back(info);
	return metrics;
}

const catalogue &catalogue::standard()
{
	return all_catalogues().front();
}

const catalogue *catalogue::find(std::string_view generation)
{
	for (const catalogue &entry : all_catalogues())
		if (entry.generation() == generation)
			return &entry;
	return nullptr;
}

std::span<const std::string_view> catalogue::generations()
{
	static const auto names = [] {
		std::vector<std::string_view> list;

		for (const catalogue_tables *tables : catalogue_tables::all)
			list.push_back(tables->generation);
		return list;
	}();

	return names;
}

const catalogue &catalogue::of(const topology &machine)
{
	const catalogue *entry = find(machine.generation());

	return entry ? *entry : standard();
}

const box_info *catalogue::box(std::string_view name) const
{
	for (const box_info &box : boxes_)
		if (same_name(box.name, name))
			return &box;
	return nullptr;
}

const field_info *catalogue::field(std::string_view box,
				   std::string_view name) const
{
	for (const field_info &field : fields_)
		if (same_name(field.box, box) && same_name(field.name, name))
			return &field;
	return nullptr;
}

const event_info *catalogue::event(std::string_view box,
				   std::string_view name) const
{
	const auto before = [&](const event_info &info, std::string_view) {
		const int order = compare_names(info.box, box);

		return order ? order < 0 : compare_names(info.name, name) < 0;
	};
	const auto position =
		std::lower_bound(events_.begin(), events_.end(), name, before);

	if (position == events_.end() || !same_name(position->box, box) ||
	    !same_name(position->name, name))
		return nullptr;
	return &*position;
}

const value_info *catalogue::value(std::string_view box, std::string_view field,
				   std::string_view name) const
{
	for (const value_info &value : values_)
		if (same_name(value.box, box) &&
		    same_name(value.field, field) &&
		    same_name(value.name, name))
			return &value;
	return nullptr;
}

const metric_info *catalogue::metric(std::string_view name) const
{
	for (const metric_info &metric : metrics_)
		if (same_name(metric.name, name))
			return &metric;
	return nullptr;
}

std::vector<const metric_info *>
catalogue::metrics_of_group(std::string_view group) const
{
	std::vector<const metric_info *> metrics;

	// Leading metrics come first.
	if (const metric_group *entry = metric_group::find(group))
		metrics = entry->leading_of(*this);
	for (const metric_info &metric : metrics_)
		if (std::any_of(metric.groups.begin(), metric.groups.end(),
				[&](std::string_view name) {
					return same_name(name, group);
				}) &&
		    !std::count(metrics.begin(), metrics.end(), &metric))
			metrics.push_back(&metric);
	return metrics;
}

std::vector<std::string_view> catalogue::nearest_events(std::string_view box,
							std::string_view name,
							unsigned most) const
{
	std::vector<std::string_view> names;

	for (const event_info &event : events_)
		if (same_name(event.box, box))
			names.push_back(event.name);
	return nearest_names(name, names, most);
}

std::vector<std::string_view> catalogue::nearest_metrics(std::string_view name,
							 unsigned most) const
{
	std::vector<std::string_view> names;

	for (const metric_info &metric : metrics_)
		names.push_back(metric.name);
	return nearest_names(name, names, most);
}

} // namespace uncore
