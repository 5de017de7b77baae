export type Id = string | number;

export type Listener<T> = (value: T, at: Date) => void;

export enum Status {
  Open = "open",
  Done = "done",
}

/** One thing to do. */
export interface Task {
  id: Id;
  title: string;
  status: Status;
  due?: Date;
  assign(person: string): void;
}

export interface Store<T> {
  get(id: Id): T | undefined;
  put(value: T): Promise<void>;
}
