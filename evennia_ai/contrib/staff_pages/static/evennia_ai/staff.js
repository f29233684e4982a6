// The staff pages' charts, and no requests from pages that nobody sees. Without it the tables stand.
(function () {
  "use strict";

  document.addEventListener("htmx:beforeRequest", function (event) {
    if (document.hidden) event.preventDefault();
  });

  // A form whose answer takes a while says so, also after the browser's "back".
  function showWaiting(waits) {
    document.querySelectorAll("form.wait").forEach(function (form) {
      form.setAttribute("aria-busy", waits);
    });
  }
  document.addEventListener("submit", function (event) {
    if (event.target.matches("form.wait")) showWaiting(true);
  });
  addEventListener("pageshow", function () { showWaiting(false); });

  function colour(name) {
    return getComputedStyle(document.body).getPropertyValue(name).trim();
  }

  function draw(place) {
    var rows = JSON.parse(document.getElementById(place.dataset.chart).textContent);
    var named = function (key) { return rows.map(function (row) { return row[key]; }); };
    var axis = function (more) {
      return Object.assign({ stroke: colour("--soft"), grid: { stroke: colour("--line") } }, more);
    };
    var upFromZero = function (chart, low, high) { return [0, (high || 1) * 1.1]; };
    var brief = function (chart, values) {
      return values.map(function (value) {
        return value >= 1e6 ? value / 1e6 + " M" : value >= 1e4 ? value / 1e3 + " k" : value;
      });
    };
    var orNothing = function (chart, value) { return value === null ? "" : value; };
    var options = {
      width: place.clientWidth - 16,
      height: 240,
      scales: {
        x: { time: true, range: function (chart, low, high) { return [low - 43200, high + 43200]; } },
        y: { range: upFromZero },
        second: { range: upFromZero }
      },
      axes: [
        axis({ values: "{MM}-{DD}" }),
        axis({ size: 52, values: brief }),
        axis({ side: 1, scale: "second", size: 52, values: brief, grid: { show: false } })
      ],
      series: [
        { label: "day", value: function (chart, at) { return at ? new Date(at * 1000).toISOString().slice(0, 10) : ""; } },
        { label: place.dataset.bars, stroke: colour("--accent"), fill: colour("--accent"),
          value: orNothing, paths: uPlot.paths.bars({ size: [0.6, 40] }), points: { show: false } },
        { label: place.dataset.line, scale: "second", stroke: colour("--warn"), width: 2,
          value: orNothing, points: { show: false } }
      ],
      tzDate: function (seconds) { return uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"); }
    };
    var days = named(place.dataset.x).map(function (day) { return Date.parse(day + "T00:00Z") / 1000; });
    place.replaceChildren();
    new uPlot(options, [days, named(place.dataset.bars), named(place.dataset.line)], place);
  }

  function drawAll() {
    document.querySelectorAll("[data-chart]").forEach(draw);
  }

  document.addEventListener("DOMContentLoaded", drawAll);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  var late;
  addEventListener("resize", function () { clearTimeout(late); late = setTimeout(drawAll, 150); });
})();
