import { inspect } from "node:util"

export const WIDTH = 80

export function table(
	rows,
	{ width = WIDTH, header = true } = {},
) {
	const widths = rows[0].map((_, column) =>
		Math.max(
			...rows.map(
				(row) => String(row[column]).length,
			),
		),
	)
	const lines = rows.map((row) =>
		row
			.map((cell, column) =>
				String(cell).padEnd(widths[column]),
			)
			.join(" | ")
			.slice(0, width),
	)
	if (header)
		lines.splice(
			1,
			0,
			widths
				.map((size) => "-".repeat(size))
				.join("-+-"),
		)
	return lines.join("\n")
}

export function* numbered(lines) {
	let number = 0
	for (const line of lines) {
		number += 1
		yield `${number}: ${line}`
	}
}

export default function show(value) {
	return inspect(value, { depth: 2 })
}

export async function readAll(stream) {
	const chunks = []
	for await (const chunk of stream)
		chunks.push(chunk)
	return Buffer.concat(chunks).toString("utf8")
}
