"use strict"

const SEPARATOR = "/"

/**
 * Join parts of a path.
 * @param {...string} parts
 */
function joinPath(...parts) {
	const joined = parts.join(SEPARATOR)
	return joined.replace(/\/{2,}/g, SEPARATOR)
}

function parseQuery(text, separator = "&") {
	const query = {}
	for (const pair of text.split(separator)) {
		const [name, value] = pair.split("=")
		query[decodeURIComponent(name)] =
			decodeURIComponent(value || "")
	}
	return query
}

const splitPath = (path) =>
	path
		.split(SEPARATOR)
		.filter((part) => part.length > 0)

function matchPath(pattern, path) {
	const wanted = splitPath(pattern)
	const given = splitPath(path)
	if (wanted.length !== given.length) return null
	const params = {}
	for (let i = 0; i < wanted.length; i++) {
		if (wanted[i].startsWith(":"))
			params[wanted[i].slice(1)] = given[i]
		else if (wanted[i] !== given[i]) return null
	}
	return params
}

module.exports = {
	joinPath,
	parseQuery,
	splitPath,
	matchPath,
}
