import {groupBy, retry, sameId} from "./helpers";
import {
	Status,
	type Id,
	type Listener,
	type Store,
	type Task
} from "./types";

export interface BoardOptions {
	title: string;
	limit?: number;
}

abstract class Base {
	protected listeners: Listener<Task>[] = [];

	on(listener: Listener<Task>): void {
		this.listeners.push(listener);
	}

	abstract size(): number;
}

/** Tasks in columns. */
export class Board extends Base implements Store<Task> {
	private tasks: Task[] = [];
	readonly title: string;
	static count = 0;

	constructor(private options: BoardOptions) {
		super();
		this.title = options.title;
		Board.count += 1;
	}

	get open(): Task[] {
		return this.tasks.filter(
			task => task.status === Status.Open
		);
	}

	get(id: Id): Task | undefined {
		return this.tasks.find(task => sameId(task.id, id));
	}

	async put(task: Task): Promise<void> {
		const limit = this.options.limit ?? Infinity;
		if (this.tasks.length >= limit) {
			throw new RangeError(`${this.title} is full`);
		}
		this.tasks.push(task);
		this.notify(task);
	}

	size(): number {
		return this.tasks.length;
	}

	/** Tasks by what they are at. */
	columns(): Record<Status, Task[]> {
		return groupBy(this.tasks, task => task.status);
	}

	async load(
		fetcher: () => Promise<Task[]>,
		attempts?: number
	): Promise<number> {
		const loaded = await retry(fetcher, attempts);
		for (const task of loaded) {
			await this.put(task);
		}
		return loaded.length;
	}

	private notify(task: Task): void {
		const now = new Date();
		for (const listener of this.listeners) {
			listener(task, now);
		}
	}
}
