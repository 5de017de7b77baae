export { Board, type BoardOptions } from "./board";
export { formatDate, retry } from "./helpers";
export type { Task } from "./types";
