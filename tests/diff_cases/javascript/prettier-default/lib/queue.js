"use strict";

const EventEmitter = require("events");

class Queue extends EventEmitter {
  static #count = 0;
  #items = [];
  limit = 10;

  constructor(limit) {
    super();
    if (limit) this.limit = limit;
    Queue.#count++;
  }

  static get count() {
    return Queue.#count;
  }

  get length() {
    return this.#items.length;
  }

  set length(value) {
    this.#items.length = value;
  }

  push(item, priority = 0) {
    this.#items.push({ item, priority });
    this.emit("push", item);
    return this;
  }

  #sort() {
    this.#items.sort((one, other) => one.priority - other.priority);
  }

  async *drain() {
    this.#sort();
    while (this.#items.length > 0) yield this.#items.shift().item;
  }
}

function Timer(duration) {
  this.duration = duration;
}

Timer.prototype.start = function (callback) {
  this.handle = setTimeout(callback, this.duration);
  return this;
};

Timer.prototype.stop = function stop() {
  clearTimeout(this.handle);
};

Timer.every = function (duration, callback) {
  return setInterval(callback, duration);
};

const defaults = {
  limit: 10,
  retry(attempt) {
    return attempt < 3;
  },
  delay: (attempt) => attempt * 100,
};

function once(fn) {
  let done = false;
  return (...args) => {
    if (done) return;
    done = true;
    return fn(...args);
  };
}

exports.Queue = Queue;
exports.Timer = Timer;
exports.defaults = defaults;
exports.once = once;
