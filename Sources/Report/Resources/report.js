"use strict";
(() => {
  const root = document.documentElement;
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const select = document.getElementById("currency");
  const drawn = new Map();
  const tone = name => getComputedStyle(root).getPropertyValue("--" + name).trim();
  const exact = new Intl.NumberFormat("en", {minimumFractionDigits: 2, maximumFractionDigits: 3});
  const whole = new Intl.NumberFormat("en", {maximumFractionDigits: 3});
  const short = new Intl.NumberFormat("en", {notation: "compact", maximumFractionDigits: 1});
  const words = (value, unit, currency) => value == null ? "not known"
    : unit === "money" ? exact.format(value) + " " + currency : unit === "percent" ? exact.format(value) + "%"
    : whole.format(value);
  const cut = text => text.length > 34 ? text.slice(0, 16) + "…" + text.slice(-17) : text;

  // A bar's hatching says what its colour says.
  const hatchings = [
    null, [[0, 8, 8, 0]], [[0, 0, 8, 8]], [[0, 4, 8, 4]], [[0, 8, 8, 0], [0, 0, 8, 8]], [[4, 0, 4, 8]], null
  ];
  function fill(number) {
    const colour = tone("tone" + number);
    if (!hatchings[number]) return colour;
    const tile = document.createElement("canvas");
    tile.width = tile.height = 8;
    const pen = tile.getContext("2d");
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 8, 8);
    pen.strokeStyle = tone("card");
    pen.globalAlpha = 0.55;
    for (const [fromX, fromY, toX, toY] of hatchings[number]) {
      for (const shift of [-8, 0, 8]) {
        pen.beginPath();
        pen.moveTo(fromX + shift, fromY);
        pen.lineTo(toX + shift, toY);
        pen.stroke();
      }
    }
    return pen.createPattern(tile, "repeat");
  }

  function dataset(series, index, chart) {
    const colour = tone("tone" + series.tone);
    const common = {label: series.name, data: series.values, borderColor: colour};
    if (!series.line) {
      return {...common, type: "bar", backgroundColor: fill(series.tone), borderWidth: 1, stack: "bars", maxBarThickness: 36};
    }
    return {
      ...common, type: "line", backgroundColor: colour, borderWidth: 2, borderDash: index % 2 ? [6, 4] : [],
      pointStyle: index % 2 ? "rect" : "circle", pointRadius: chart.form === "lines" ? 0 : 3, pointHitRadius: 10,
      tension: 0, order: -1, stack: "line" + index
    };
  }

  function configuration(chart, panel) {
    const lies = chart.form === "rows";
    const names = panel.labels.map((label, index) => panel.notes ? [cut(label), panel.notes[index]] : cut(label));
    const ink = tone("soft");
    const along = {
      stacked: true, grid: {display: false}, ticks: {color: ink, maxRotation: 0, autoSkip: !lies, autoSkipPadding: 16}
    };
    const up = {
      stacked: chart.form !== "lines", beginAtZero: true, grid: {color: tone("line")}, border: {display: false},
      ticks: {
        color: ink, maxTicksLimit: 6, precision: chart.unit === "count" ? 0 : undefined,
        callback: value => chart.unit === "percent" ? whole.format(value) + "%" : short.format(value)
      }
    };
    return {
      data: {labels: names, datasets: panel.series.map((series, index) => dataset(series, index, chart))},
      options: {
        animation: false, responsive: true, maintainAspectRatio: false, indexAxis: lies ? "y" : "x",
        interaction: {mode: "index", intersect: false, axis: lies ? "y" : "x"},
        scales: lies ? {y: along, x: up} : {x: along, y: up},
        plugins: {
          legend: {
            display: panel.series.length > 1, position: "bottom", align: "start",
            labels: {color: tone("ink"), boxWidth: 14, boxHeight: 12, padding: 14}
          },
          tooltip: {
            callbacks: {
              title: items => items.length ? panel.labels[items[0].dataIndex] : "",
              label: item => item.dataset.label + ": " + words(item.raw, chart.unit, panel.currency)
            }
          }
        }
      }
    };
  }

  function draw(chart) {
    const panel = chart.panels.find(one => one.currency === null || !select || one.currency === select.value);
    drawn.get(chart.id)?.destroy();
    drawn.delete(chart.id);
    const box = document.getElementById("box-" + chart.id);
    box.hidden = !panel;
    document.getElementById("none-" + chart.id).hidden = Boolean(panel);
    if (!panel) return;
    if (chart.form === "rows") {
      box.style.height = Math.max(8, 5 + panel.labels.length * (panel.notes ? 2.6 : 2)) + "rem";
    }
    const canvas = document.getElementById("chart-" + chart.id);
    canvas.setAttribute("aria-label", panel.label);
    drawn.set(chart.id, new Chart(canvas, configuration(chart, panel)));
  }

  function drawAll() {
    for (const tile of document.querySelectorAll("[data-currency]")) {
      tile.hidden = Boolean(select) && tile.dataset.currency !== select.value;
    }
    figures.forEach(draw);
    root.dataset.charts = drawn.size;
  }

  root.classList.add("drawn");
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  select?.addEventListener("change", drawAll);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  // Paper is light, and narrower than the window.
  addEventListener("beforeprint", () => { root.classList.add("paper"); drawAll(); });
  addEventListener("afterprint", () => { root.classList.remove("paper"); drawAll(); });
  drawAll();
})();
