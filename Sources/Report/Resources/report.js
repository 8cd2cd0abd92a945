"use strict";
// Draws the charts from the figures in the page, in the current colours, for the chosen currency and range.
//
// Text reaches the page as text and the canvas only. <html data-charts> says how many charts are drawn.
(() => {
  const root = document.documentElement;
  const page = JSON.parse(document.getElementById("figures").textContent);
  const currency = document.getElementById("currency");
  const range = document.getElementById("range");
  const drawn = new Map();
  // A sheet of A4 or US Letter has 680 CSS pixels between usual margins.
  const paperWidth = 680;
  // Longer ranges of days are drawn by week.
  const mostDays = 100;
  const monthNames = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
  const tone = name => getComputedStyle(root).getPropertyValue("--" + name).trim();
  const exact = new Intl.NumberFormat("en", {minimumFractionDigits: 2, maximumFractionDigits: 3});
  const whole = new Intl.NumberFormat("en", {maximumFractionDigits: 3});
  const units = new Intl.NumberFormat("en", {maximumFractionDigits: 0});
  const share = new Intl.NumberFormat("en", {minimumFractionDigits: 1, maximumFractionDigits: 1});
  const short = new Intl.NumberFormat("en", {notation: "compact", maximumFractionDigits: 1});
  const isPaper = () => root.classList.contains("paper");

  function words(value, unit, panel) {
    if (value == null) return "not known";
    if (unit === "money") return (panel.whole ? units : exact).format(value) + " " + panel.currency;
    return unit === "percent" ? exact.format(value) + "%" : unit === "ratio" ? exact.format(value) : whole.format(value);
  }

  // Product IDs have the same beginning and differ at the end, so the middle is left out; and more of the beginning where
  // two names would look the same.
  const letters = text => typeof Intl.Segmenter === "function"
    ? Array.from(new Intl.Segmenter("en").segment(text), part => part.segment) : Array.from(text);
  function shortened(texts, most) {
    const cut = end => texts.map(text => {
      const all = letters(text);
      return all.length <= most ? text : all.slice(0, most - 1 - end).join("") + "…" + all.slice(-end).join("");
    });
    const even = cut(Math.floor(most / 2));
    return new Set(even).size === new Set(texts).size ? even : cut(most - 5);
  }

  // A month is "2026-11" and a day "2026-11-22", so that text in order is time in order.
  const date = time => new Date((time.length === 7 ? time + "-01" : time) + "T00:00:00Z");
  const text = (moment, step) => moment.toISOString().slice(0, step === "month" ? 7 : 10);
  function next(time, step) {
    const moment = date(time);
    if (step === "month") moment.setUTCMonth(moment.getUTCMonth() + 1); else moment.setUTCDate(moment.getUTCDate() + 1);
    return text(moment, step);
  }
  function monday(day) {
    const moment = date(day);
    moment.setUTCDate(moment.getUTCDate() - (moment.getUTCDay() + 6) % 7);
    return text(moment, "day");
  }
  const dayWords = day => Number(day.slice(8)) + " " + monthWords(day);
  const monthWords = time => monthNames[Number(time.slice(5, 7)) - 1] + " " + time.slice(0, 4);

  // The first period of the range: so many months that are over, and the present one; so many months back to the day.
  function first(step) {
    const months = range ? Number(range.value) : 0;
    if (!months) return "";
    const [year, month, day] = page.today.split("-").map(Number);
    const moment = new Date(Date.UTC(year, month - 1 - months, 1));
    if (step === "month") return text(moment, step);
    const lastDay = new Date(Date.UTC(year, month - months, 0)).getUTCDate();
    moment.setUTCDate(Math.min(day, lastDay));
    return text(moment, step);
  }

  // What is drawn of a panel: names along the axis, titles of the tooltips, and the values of each series.
  function view(chart, panel) {
    if (!chart.step) {
      return {names: panel.labels, titles: panel.labels, partial: panel.labels.map(() => false), values: panel.series.map(one => one.values)};
    }
    const rows = new Map(panel.labels.map((time, index) => [time, index]));
    const gap = chart.sum ? 0 : null;
    const newest = panel.labels.at(-1);
    const end = panel.partial && panel.partial > newest ? panel.partial : newest;
    let from = first(chart.step);
    if (from < panel.labels[0]) from = panel.labels[0];
    let times = [];
    for (let time = from; time <= end; time = next(time, chart.step)) times.push(time);
    const isByWeek = chart.step === "day" && chart.sum && times.length > mostDays;
    if (isByWeek) {
      for (let time = monday(from); time < from; time = next(time, "day")) if (rows.has(time)) times.push(time);
      times.sort();
    }
    const spans = new Map();
    for (const time of times) {
      const key = isByWeek ? monday(time) : time;
      if (!spans.has(key)) spans.set(key, []);
      spans.get(key).push(time);
    }
    const keys = [...spans.keys()];
    const value = (series, time) => rows.has(time) ? series.values[rows.get(time)] : gap;
    return {
      names: keys.map(chart.step === "month" ? monthWords : dayWords),
      titles: keys.map(key => isByWeek ? "Week of " + dayWords(key) : chart.step === "month" ? monthWords(key) : dayWords(key)),
      partial: keys.map(key => spans.get(key).includes(panel.partial)),
      values: panel.series.map(series => keys.map(key => {
        const values = spans.get(key).map(time => value(series, time));
        return isByWeek ? values.reduce((sum, one) => sum + (one ?? 0), 0) : values[0];
      }))
    };
  }

  // A bar's hatching says what its colour says; a bar that is still growing is lighter.
  const hatchings = [
    null, [[0, 8, 8, 0]], [[0, 0, 8, 8]], [[0, 4, 8, 4]], [[0, 8, 8, 0], [0, 0, 8, 8]], [[4, 0, 4, 8]], null
  ];
  function fill(number, isPartial) {
    const colour = tone("tone" + number);
    if (!hatchings[number] && !isPartial) return colour;
    const tile = document.createElement("canvas");
    tile.width = tile.height = 8;
    const pen = tile.getContext("2d");
    pen.globalAlpha = isPartial ? 0.4 : 1;
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 8, 8);
    pen.strokeStyle = tone("card");
    pen.globalAlpha = 0.55;
    for (const [fromX, fromY, toX, toY] of hatchings[number] ?? []) {
      for (const shift of [-8, 0, 8]) {
        pen.beginPath();
        pen.moveTo(fromX + shift, fromY);
        pen.lineTo(toX + shift, toY);
        pen.stroke();
      }
    }
    return pen.createPattern(tile, "repeat");
  }

  function dataset(series, index, chart, shown) {
    const colour = tone("tone" + series.tone);
    const common = {label: series.name, data: shown.values[index], borderColor: colour};
    if (!series.line) {
      const full = fill(series.tone, false);
      const partial = shown.partial.includes(true) ? fill(series.tone, true) : full;
      return {
        ...common, type: "bar", backgroundColor: shown.partial.map(isPartial => isPartial ? partial : full), borderWidth: 1,
        stack: "bars", maxBarThickness: 36
      };
    }
    const dash = index % 2 ? [6, 4] : [];
    return {
      ...common, type: "line", backgroundColor: colour, borderWidth: 2, borderDash: dash,
      segment: {borderDash: context => shown.partial[context.p1DataIndex] ? [2, 3] : dash},
      pointStyle: index % 2 ? "rect" : "circle", pointRadius: shown.names.length > 60 ? 0 : chart.form === "lines" ? 2 : 3,
      pointHitRadius: 10, tension: 0, order: -1, stack: "line" + index
    };
  }

  // A part of the bars in one place, in percent of them.
  function part(item) {
    const values = item.chart.data.datasets.filter(one => one.type === "bar").map(one => one.data[item.dataIndex] ?? 0);
    const sum = values.reduce((sum, one) => sum + one, 0);
    return sum > 0 && item.raw != null ? " (" + share.format(100 * item.raw / sum) + "%)" : "";
  }

  function configuration(chart, panel, shown, width) {
    const lies = chart.form === "rows";
    // At most two fifths of the width are for names, in letters of about 7 pixels.
    const most = Math.max(12, Math.min(40, Math.floor(width * 0.4 / 7)));
    const names = (chart.step ? shown.names : shortened(shown.names, most)).map((name, index) => {
      const lines = [name];
      if (panel.notes) lines.push(panel.notes[index]);
      if (shown.partial[index]) lines.push("so far");
      return lines.length > 1 ? lines : lines[0];
    });
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
      data: {labels: names, datasets: panel.series.map((series, index) => dataset(series, index, chart, shown))},
      options: {
        animation: false, responsive: !isPaper(), maintainAspectRatio: false, indexAxis: lies ? "y" : "x",
        // Paper is read closer than a screen.
        devicePixelRatio: isPaper() ? 2 : undefined,
        interaction: {mode: "index", intersect: false, axis: lies ? "y" : "x"},
        scales: lies ? {y: along, x: up} : {x: along, y: up},
        plugins: {
          legend: {
            display: panel.series.length > 1, position: "bottom", align: "start",
            labels: {color: tone("ink"), boxWidth: 14, boxHeight: 12, padding: 14}
          },
          tooltip: {
            callbacks: {
              title: items => items.length
                ? shown.titles[items[0].dataIndex] + (shown.partial[items[0].dataIndex] ? ", not over" : "") : "",
              label: item => item.dataset.label + ": " + words(item.raw, chart.unit, panel)
                + (chart.shares ? part(item) : "")
            }
          }
        }
      }
    };
  }

  function draw(chart) {
    const own = chart.panels.find(one => one.currency === null || !currency || one.currency === currency.value);
    const panel = own ?? (chart.follows ? undefined : chart.panels[0]);
    const shown = panel && view(chart, panel);
    const isDrawn = Boolean(shown && shown.names.length);
    drawn.get(chart.id)?.destroy();
    drawn.delete(chart.id);
    const box = document.getElementById("box-" + chart.id);
    box.hidden = !isDrawn;
    document.getElementById("none-" + chart.id).hidden = isDrawn;
    const remark = document.getElementById("partial-" + chart.id);
    if (remark) remark.hidden = !isDrawn;
    if (!isDrawn) return;
    if (chart.form === "rows") {
      box.style.height = Math.max(8, 5 + shown.names.length * (panel.notes ? 2.6 : 2)) + "rem";
    }
    const canvas = document.getElementById("chart-" + chart.id);
    canvas.setAttribute("aria-label", panel.label);
    const width = isPaper() ? paperWidth : box.clientWidth;
    if (isPaper()) {
      canvas.width = width;
      canvas.height = box.clientHeight;
    }
    drawn.set(chart.id, new Chart(canvas, configuration(chart, panel, shown, width)));
  }

  function drawAll() {
    for (const tile of document.querySelectorAll("[data-currency]")) {
      tile.hidden = Boolean(currency) && tile.dataset.currency !== currency.value;
    }
    page.charts.forEach(draw);
    root.dataset.charts = drawn.size;
  }

  root.classList.add("drawn");
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  currency?.addEventListener("change", drawAll);
  range?.addEventListener("change", drawAll);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  // Names are shortened to the width.
  matchMedia("(max-width: 40rem)").addEventListener("change", drawAll);
  // Paper is light, and narrower than the window.
  addEventListener("beforeprint", () => { root.classList.add("paper"); drawAll(); });
  addEventListener("afterprint", () => { root.classList.remove("paper"); drawAll(); });
  drawAll();
})();
