"use strict";

const { matchPath } = require("./paths");

class Router {
  constructor(options = {}) {
    this.strict = Boolean(options.strict);
    this.routes = [];
  }

  add(method, path, handler) {
    this.routes.push({ method, path, handler });
    return this;
  }

  find(method, url) {
    const path = url.split("?")[0];
    for (const route of this.routes) {
      const params = matchPath(route.path, path);
      if (params && route.method === method) return { ...route, params };
    }
    return null;
  }

  static from(routes) {
    const router = new Router();
    for (const [method, path, handler] of routes)
      router.add(method, path, handler);
    return router;
  }
}

exports.Router = Router;
exports.METHODS = ["GET", "POST"];
exports.isMethod = function isMethod(name) {
  return exports.METHODS.includes(name.toUpperCase());
};
