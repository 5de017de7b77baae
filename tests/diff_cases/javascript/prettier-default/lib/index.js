"use strict";

const { Router } = require("./router");
const { parseQuery, joinPath } = require("./paths");

module.exports = createApp;
module.exports.Router = Router;
module.exports.parseQuery = parseQuery;

function createApp(options) {
  const app = {};
  const router = new Router(options);

  app.get = function (path, handler) {
    router.add("GET", joinPath("/", path), handler);
    return app;
  };

  app.handle = function handle(request, response) {
    const found = router.find(request.method, request.url);
    if (!found) {
      response.statusCode = 404;
      return response.end("not found");
    }
    return found.handler(request, response);
  };

  return app;
}
