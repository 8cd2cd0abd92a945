"use strict";
// Filters, adds up, compares and draws the figures in the page. Without a choice it shows what the page already has as HTML.
//
// Text reaches the page as text only. <html data-charts> says how many charts are drawn.
(() => {
  const root = document.documentElement;
  const byId = id => document.getElementById(id);
  const page = JSON.parse(byId("figures").textContent);
  const charts = new Map(page.charts.map(chart => [chart.id, chart]));
  const segments = ["app_id", "product_id", "storefront", "currency"];
  const titles = {app_id: "App", product_id: "Product", storefront: "Storefront", currency: "Currency"};

  // ---- Days are numbers from 1 January 1970, and months from the year 0.
  const dayOf = text => Date.UTC(+text.slice(0, 4), +text.slice(5, 7) - 1, +(text.slice(8, 10) || 1)) / 864e5;
  const dayText = day => new Date(day * 864e5).toISOString().slice(0, 10);
  const monthOf = day => { const at = new Date(day * 864e5); return at.getUTCFullYear() * 12 + at.getUTCMonth(); };
  const monthStart = month => Date.UTC(Math.floor(month / 12), month % 12, 1) / 864e5;
  const monthEnd = month => monthStart(month + 1) - 1;
  const monday = day => day - (day + 3) % 7;
  const newest = dayOf(page.newest), newestMonth = monthOf(newest);
  const lastOver = page.newestIsOver ? newest : newest - 1;
  const lastMonthOver = monthEnd(newestMonth) <= lastOver ? newestMonth : newestMonth - 1;
  const firstMonth = monthOf(dayOf(page.first)), daysFrom = dayOf(page.daysFrom), monthsBefore = monthOf(daysFrom) - firstMonth;
  const yearBefore = day => {
    const at = new Date(day * 864e5), month = monthOf(day) - 12;
    return Math.min(monthStart(month) + at.getUTCDate() - 1, monthEnd(month));
  };

  // ---- Numbers and names as the page's HTML has them.
  const monthNames = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
  const monthWords = month => monthNames[month % 12] + " " + Math.floor(month / 12);
  const dayWords = day => new Date(day * 864e5).getUTCDate() + " " + monthWords(monthOf(day));
  const spanWords = (from, to) => from === to ? from : from + " to " + to;
  function decimal(number, digits) {
    const scaled = Math.floor(Math.abs(number) * 10 ** digits * (1 + 1e-12) + 0.5);
    if (!(scaled < 1e18)) return "–";
    const all = String(scaled).padStart(digits + 1, "0"), units = all.slice(0, all.length - digits);
    return (number < 0 && scaled > 0 ? "−" : "") + units.replace(/\B(?=(\d{3})+$)/g, ",") + (digits ? "." + all.slice(-digits) : "");
  }
  const digitsOf = currency => page.digits[currency] ?? 2;
  function words(value, kind, currency) {
    if (value == null || !(Math.abs(value) < 9e15)) return "–";
    if (kind === "money") return decimal(value / 1000, digitsOf(currency));
    if (kind === "rate") return decimal(value * 100, 2) + "%";
    return decimal(value, kind === "ratio" ? 2 : 0);
  }
  const plainNumber = (value, kind, currency) => value == null ? "" : (kind === "rate" ? decimal(value, 4) : words(value, kind, currency))
    .replaceAll(",", "").replace("−", "-").replace("–", "");
  const share = (part, whole) => part != null && whole > 0 ? decimal(100 * part / whole, 1) + "%" : "";
  function changeWords(before, now, kind, currency) {
    if (before === now) return "no change";
    const word = now > before ? "up" : "down", sign = now > before ? "+" : "−";
    if (kind === "rate") {
      const points = decimal(Math.abs(now - before) * 100, 2);
      return points === "0.00" ? "no change" : sign + points + " points " + word;
    }
    return before > 0 ? sign + decimal(100 * Math.abs(now - before) / before, 1) + "% " + word
      : word + " from " + words(before, kind, currency);
  }
  const short = new Intl.NumberFormat("en", {notation: "compact", maximumFractionDigits: 1});
  const nameOf = (segment, place) => page.names[segment][place - 1] ?? (place === 0 ? "other" : "not told");
  // For people: the country of a storefront. Links and CSV files have Apple's code.
  const titleOf = (segment, place) => segment === "storefront" ? page.countries[nameOf(segment, place)] ?? nameOf(segment, place) : nameOf(segment, place);

  // ---- The figures: for each name in the segments, places along the time and the numbers that are not 0.
  const decoded = new Map();
  const lackOf = column => column.name + (column.kind === "money" ? "_unconverted" : "_unrated");
  const firstPlace = text => text.includes(":") ? parseInt(text, 10) : 0;
  function series(text, factor) {
    const at = [], numbers = [];
    if (text) {
      let place = firstPlace(text);
      for (const part of text.slice(text.indexOf(":") + 1).split(",")) {
        if (part[0] === "+") { place += parseInt(part.slice(1), 36); continue; }
        if (part) { at.push(place); numbers.push(parseInt(part, 36) * factor); }
        place += 1;
      }
    }
    return {at, numbers};
  }
  function cubeOf(chart) {
    let cube = decoded.get(chart.source);
    if (!cube) {
      const own = page.cubes[chart.source], source = charts.get(chart.source);
      // Series are read when they are first needed.
      const lazily = (list, factor = 1) => { let read; return () => read ??= (list ?? []).map(text => series(text, factor)); };
      let earliest = Infinity;
      for (const list of Object.values(own.values)) for (const text of list) if (text) earliest = Math.min(earliest, firstPlace(text));
      const columns = source.columns.filter(column => !column.sum);
      // Converted amounts are millionths.
      const measures = columns.map(column => ({
        name: column.name, total: column.total, money: column.kind === "money", own: lazily(own.values[column.name]),
        converted: lazily(own.values[column.name + "_converted"], 0.001)
      }));
      // What has no rate: a part of each number, and how many sums of a day and currency.
      const lacks = columns.map(column => ({name: lackOf(column), total: column.total, own: lazily(own.values[lackOf(column)])}));
      if (!source.converted) lacks.push({name: "unrated", total: source.unrated, own: lazily(own.values.unrated)});
      cube = {names: own.names, rows: own.rows, measures, lacks, earliest, time: source.time};
      decoded.set(chart.source, cube);
    }
    return cube;
  }
  // The days of a place along the time: of a month, or of one day.
  const isMonth = (cube, place) => cube.time === "month" || place < monthsBefore;
  const startOf = (cube, place) => isMonth(cube, place) ? monthStart(firstMonth + place) : daysFrom + place - monthsBefore;
  const endOf = (cube, place) => isMonth(cube, place) ? monthEnd(firstMonth + place) : daysFrom + place - monthsBefore;
  const placeOf = (cube, day) => cube.time === "month" || day < daysFrom ? monthOf(day) - firstMonth : monthsBefore + day - daysFrom;

  // ---- The choice. Places of segments are from 1; 0 is "other", and "" is everything.
  const initial = {app_id: "", product_id: "", storefront: "", currency: "", range: "12", from: "", to: "", step: "month", against: ""};
  let choice = {...initial};
  // Amounts are in one currency: the chosen one, else that of the rates, else the one of most purchases. Figures that the view has converted
  // have no other.
  const converts = chart => page.reporting !== null && (choice.currency === "" || chart !== undefined && charts.get(chart.source).converted);
  const amounts = chart => converts(chart) ? page.reporting : choice.currency !== "" ? nameOf("currency", choice.currency) : page.names.currency[0];
  const allCurrencies = page.names.currency.length + (page.others.currency ?? 0);
  function amountWords(chart) {
    if (converts(chart)) return "All, in " + page.reporting;
    return allCurrencies > 1 ? amounts() + " purchases only, 1 of " + allCurrencies + " currencies" : amounts();
  }
  const hasMoney = chart => chart.columns.some(column => column.kind === "money" && column.title);
  const currencyOf = chart => hasMoney(chart) ? amounts(chart) : null;

  // The days of the chosen range, and whether they are whole months.
  function range() {
    const months = count => ({from: monthStart(lastMonthOver + 1 - count), to: newest, byMonth: true});
    const year = newestMonth - newestMonth % 12;
    if (choice.range === "this-year") return {from: monthStart(year), to: newest, byMonth: true};
    if (choice.range === "last-year") return {from: monthStart(year - 12), to: monthEnd(year - 1), byMonth: true};
    if (choice.range === "month") return {from: monthStart(lastMonthOver), to: monthEnd(lastMonthOver), byMonth: true};
    if (choice.range === "30d") return {from: lastOver - 29, to: lastOver, byMonth: false};
    if (choice.range === "all") return {from: monthStart(firstMonth), to: newest, byMonth: true};
    if (choice.range !== "free") return months(+choice.range);
    // Before its days, the page has whole months.
    const asked = [dayOf(choice.from), Math.min(dayOf(choice.to), newest)];
    const from = asked[0] < daysFrom ? monthStart(monthOf(asked[0])) : asked[0], to = asked[1] < daysFrom ? monthEnd(monthOf(asked[1])) : asked[1];
    return {from, to, byMonth: from === monthStart(monthOf(from)) && (to === newest || to === monthEnd(monthOf(to)))};
  }
  // The equally long range before, or the same days a year before.
  function earlier({from, to, byMonth}, against) {
    const first = monthOf(from), last = monthOf(to);
    if (against === "year") {
      return {from: yearBefore(from), to: byMonth ? monthEnd(last - 12) : yearBefore(to), byMonth};
    }
    return byMonth ? {from: monthStart(2 * first - last - 1), to: monthEnd(first - 1), byMonth}
      : {from: 2 * from - to - 1, to: from - 1, byMonth};
  }
  // The part of the range that is over: a month that is not would be too low.
  function closed(days, byMonth) {
    if (!byMonth) return {...days, to: Math.min(days.to, Math.max(lastOver, days.from))};
    const last = Math.min(monthOf(days.to), Math.max(lastMonthOver, monthOf(days.from)));
    return {from: monthStart(monthOf(days.from)), to: monthEnd(last), byMonth: true};
  }
  // Charts along the time also have the month that is not over, and the others have what the key figures have.
  const daysOf = chart => chart.rows[0] === "period" ? drawnRange(chart, range()) : closed(range(), range().byMonth || chart.time === "month");
  const beside = () => choice.against === "none" ? "" : choice.against;
  // Charts by day or week begin where the page has days.
  const stepOf = chart => chart.time === "month" ? "month" : choice.step;
  const drawnRange = (chart, days) => stepOf(chart) === "month" ? days : {...days, from: Math.max(days.from, daysFrom)};

  // The sums of a chart's figures by names, each with the places from which numbers at the start and the end are.
  // `only` is one period, or names that must match.
  function sums(chart, by, days, only) {
    const cube = cubeOf(chart), step = stepOf(chart), rows = new Map();
    const bucketOf = day => step === "month" ? monthStart(monthOf(day)) : step === "week" ? monday(day) : day;
    const places = by.map(name => name === "period" ? -1 : cube.names.indexOf(name)), hasPeriod = by.includes("period");
    const filters = segments.map(name => [cube.names.indexOf(name), choice[name]]).filter(([place, value]) => place >= 0 && value !== "");
    const currency = cube.names.indexOf("currency");
    if (currency >= 0 && hasMoney(chart) && !converts(chart) && choice.currency === "") filters.push([currency, 1]);
    for (const [name, value] of Object.entries(only?.names ?? {})) filters.push([cube.names.indexOf(name), value]);
    // Whether a place counts, and in which period; months count as a whole.
    const periods = new Map();
    const periodOf = place => {
      if (!cube.time) return 0;
      let period = periods.get(place);
      if (period === undefined) {
        const start = startOf(cube, place), end = endOf(cube, place), whole = isMonth(cube, place);
        period = (whole ? end >= days.from && start <= days.to : start >= days.from && end <= days.to) && !(whole && step !== "month")
          ? bucketOf(start) : null;
        if (only?.period !== undefined && period !== only.period) period = null;
        periods.set(place, period);
      }
      return period;
    };
    const ends = new Map();
    if (cube.time) {
      for (let place = Math.max(0, placeOf(cube, days.from)); place <= placeOf(cube, Math.min(days.to, newest)); place += 1) {
        const period = periodOf(place);
        if (period === null) continue;
        const key = hasPeriod ? period : 0, end = ends.get(key);
        ends.set(key, [end ? end[0] : place, place]);
      }
    }
    const measures = converts(chart) ? cube.measures.concat(cube.lacks) : cube.measures;
    const lists = new Map(measures.map(measure => [measure, (measure.money && converts(chart) ? measure.converted : measure.own)()]));
    cube.rows.forEach((names, index) => {
      if (filters.some(([place, value]) => names[place] !== value)) return;
      for (const measure of measures) {
        const {at, numbers} = lists.get(measure)[index] ?? {at: [], numbers: []};
        for (let n = 0; n < at.length; n += 1) {
          const period = periodOf(at[n]);
          if (period === null) continue;
          if (cube.time && (measure.total === "first" || measure.total === "last")) {
            const end = ends.get(hasPeriod ? period : 0);
            if (!end || at[n] !== end[measure.total === "first" ? 0 : 1]) continue;
          }
          const key = places.map(place => place < 0 ? period : names[place]), text = key.join("\u0000");
          let row = rows.get(text);
          if (!row) rows.set(text, row = {names: key, sums: {}});
          row.sums[measure.name] = (row.sums[measure.name] ?? 0) + numbers[n];
        }
      }
    });
    return rows;
  }
  const total = (terms, sums) => terms.reduce((sum, [factor, name]) => sum + factor * (sums[name] ?? 0), 0);
  function valueOf(column, sums) {
    if (!column.sum) return sums[column.name] ?? 0;
    if (!column.divisor) return total(column.sum, sums);
    // A converted amount is divided by the count of what has a rate.
    const rated = column.kind !== "money" ? sums : Object.fromEntries(Object.entries(sums).map(([name, own]) => [name, own - (sums[name + "_unrated"] ?? 0)]));
    const whole = total(column.divisor, rated);
    return whole === 0 ? null : total(column.sum, sums) / whole;
  }

  // ---- What has no rate. An amount without one is no amount, and a sum without a part of it is marked.
  const moneyIn = (chart, column) => {
    const read = column.sum ? [...column.sum, ...(column.divisor ?? [])].map(([, name]) => name) : [column.name];
    return charts.get(chart.source).columns.filter(one => !one.sum && one.kind === "money" && read.includes(one.name));
  };
  function coverage(chart, column, sums) {
    const read = moneyIn(chart, column);
    if (!converts(chart) || !(sums.unrated > 0) || !read.length) return "whole";
    if (read.some(one => sums[one.name])) return "part";
    const amounts = charts.get(chart.source).columns.filter(one => !one.sum && one.kind === "money");
    return read.some(one => sums[lackOf(one)]) || !amounts.some(one => sums[one.name]) ? "none" : "part";
  }
  const shownValue = (chart, column, sums, currency) => coverage(chart, column, sums) === "none" ? "no rate" : words(valueOf(column, sums), column.kind, currency);
  const plainValue = (chart, column, sums, currency) => coverage(chart, column, sums) === "none" ? "" : plainNumber(valueOf(column, sums), column.kind, currency);
  const nouns = ["purchases", "subscriptions", "customers", "upgrades"];
  // Proceeds are converted by the view, which has no currency; they lack what sales lack.
  const countedIn = chart => charts.get(chart.source).converted ? charts.get("sales") : chart;
  const mainColumn = chart => columnOf(chart, chart.draw?.series[0].column) ?? shownColumns(chart)[0];
  // The column of which the main one is a part, if there is one.
  const wholeColumn = chart => columnOf(chart, mainColumn(chart).whole) ?? mainColumn(chart);
  // The sum of what is drawn on one another, if a column has it.
  const comparedColumn = chart => {
    const whole = columnOf(chart, mainColumn(chart).whole);
    return whole?.sum?.some(([, name]) => name === mainColumn(chart).name) ? whole : mainColumn(chart);
  };
  // By the names of rows, the currencies that lack a rate, with what is left out of each.
  function missingRates(chart, by, days, only, column) {
    const found = new Map();
    if (!converts(chart) || !hasMoney(chart)) return found;
    const counted = countedIn(chart), source = charts.get(counted.source), main = counted === chart ? column ?? wholeColumn(chart) : null;
    if (!cubeOf(counted).names.includes("currency")) return found;
    const noun = source.columns.find(one => nouns.includes(one.name) && !one.sum && (one.total === "sum" || one.total === "last"));
    const lacking = [...sums(counted, [...by, "currency"], days, only).values()].filter(row => row.sums.unrated > 0);
    for (const {names, sums: own} of lacking.sort((one, other) => one.names.at(-1) - other.names.at(-1))) {
      const key = names.slice(0, -1).join("\u0000"), place = names.at(-1);
      if (!found.has(key)) found.set(key, {parts: [], noun: noun?.name ?? ""});
      const amount = main?.kind !== "money" || main.divisor || place < 1 ? null
        : total(main.sum ? main.sum.map(([factor, name]) => [factor, name + "_unconverted"]) : [[1, main.name + "_unconverted"]], own);
      found.get(key).parts.push({currency: nameOf("currency", place), count: noun ? own[lackOf(noun)] ?? null : null, amount});
    }
    return found;
  }
  function missingRate(chart, days, only, column) {
    const missing = missingRates(chart, [], days, only, column).get("");
    if (missing?.noun) missing.whole = sums(countedIn(chart), [], days, only).get("")?.sums[missing.noun];
    return missing;
  }
  const lackingNames = ({parts}) => parts.length > 3 ? parts.length + " currencies" : parts.map(one => one.currency).join(", ");
  const lackingCount = ({parts, noun}) => !noun || parts.some(one => one.count == null) ? null : parts.reduce((sum, one) => sum + one.count, 0);
  function lackWords(missing) {
    const count = lackingCount(missing), list = [];
    if (count != null) list.push(words(count, "count") + (missing.whole == null ? "" : " of " + words(missing.whole, "count")) + " " + missing.noun);
    if (missing.parts.length <= 3) for (const one of missing.parts) if (one.amount != null) list.push(words(one.amount, "money", one.currency) + " " + one.currency);
    return "without " + lackingNames(missing) + (list.length ? ": " + list.join(", ") : "");
  }
  const briefLack = missing => {
    const count = lackingCount(missing);
    return lackingNames(missing) + (count == null ? "" : ": " + words(count, "count") + " " + (count === 1 ? missing.noun.slice(0, -1) : missing.noun));
  };
  const lackHead = missing => missing.size ? [{text: "Without a rate", lacks: true}] : [];
  const lackCell = (missing, key) => missing.size ? [{text: missing.has(key) ? briefLack(missing.get(key)) : "", lacks: true}] : [];
  const columnOf = (chart, name) => chart.columns.find(column => column.name === name);
  const shownColumns = chart => chart.columns.filter(column => column.title);

  // ---- The rows of a chart's table.
  function periodsOf(chart, days) {
    const step = stepOf(chart), list = [];
    const end = Math.min(days.to, step === "month" ? monthEnd(newestMonth) : newest);
    if (step === "month") for (let month = monthOf(days.from); month <= monthOf(end); month += 1) list.push(monthStart(month));
    else for (let day = step === "week" ? monday(days.from) : days.from; day <= end; day += step === "week" ? 7 : 1) list.push(day);
    return list;
  }
  const isNotOver = (chart, period) => {
    const step = stepOf(chart);
    return (step === "month" ? monthEnd(monthOf(period)) : step === "week" ? period + 6 : period) > lastOver;
  };
  const periodWords = (chart, period) => stepOf(chart) === "month" ? monthWords(monthOf(period))
    : (stepOf(chart) === "week" ? "Week of " : "") + dayWords(period);
  // In time, with the newest last; others as the page's HTML has them.
  function rowsOf(chart, days) {
    if (chart.rows[0] === "period") {
      const found = sums(chart, ["period"], days), first = [...found.keys()].map(Number).sort((one, other) => one - other)[0];
      return first === undefined ? [] : periodsOf(chart, days).filter(period => period >= first)
        .map(period => found.get(String(period)) ?? {names: [period], sums: {}});
    }
    const list = [...sums(chart, chart.rows, days).values()], cube = cubeOf(chart);
    const isKeyed = chart.rows.length > 1 || !segments.includes(chart.rows[0]);
    const first = columnOf(chart, chart.draw?.series[0].column) ?? shownColumns(chart)[0];
    const text = (row, place) => segments.includes(chart.rows[place]) ? row.names[place] : String(row.names[place] ?? "");
    return list.sort((one, other) => {
      if (!isKeyed) return (valueOf(first, other.sums) ?? 0) - (valueOf(first, one.sums) ?? 0) || text(one, 0) - text(other, 0);
      for (let place = 0; place < chart.rows.length; place += 1) {
        const left = text(one, place), right = text(other, place);
        if (left !== right) return /^-?\d+$/.test(left) && /^-?\d+$/.test(right) ? left - right : left < right ? -1 : 1;
      }
      return 0;
    });
  }
  function nameWords(chart, column, value) {
    if (column === "period") return periodWords(chart, value);
    if (segments.includes(column)) return titleOf(column, value);
    return value == null ? "not told" : /^\d{4}-\d{2}$/.test(value) ? monthWords(monthOf(dayOf(value))) : String(value);
  }
  const plainName = (chart, column, value) => column === "storefront" ? nameOf(column, value) : nameWords(chart, column, value);
  const stepTitles = {month: "Month", week: "Week", day: "Day"};
  const heading = (chart, name) => name === "period" ? stepTitles[stepOf(chart)] : titles[name] ?? page.headings[chart.source]?.[name] ?? name;

  // What a table shows: headings, and cells with text for people and for CSV.
  function model(chart) {
    const days = daysOf(chart), currency = currencyOf(chart), isTime = chart.rows[0] === "period", rows = rowsOf(chart, days);
    const before = beside() && chart.time ? besides(chart, days, rows) : null;
    const main = comparedColumn(chart), missing = missingRates(chart, chart.rows, days);
    // A column of nothing but zeros says nothing, such as that no subscription changed its currency.
    const columns = shownColumns(chart).filter(column => column === main || !column.optional
      || rows.some(row => valueOf(column, row.sums) || coverage(chart, column, row.sums) === "none"));
    // What came and went in a year is no part of what was there at its beginning.
    const isOneMonth = isTime || monthOf(days.from) === monthOf(days.to);
    const heads = chart.rows.map(name => ({text: heading(chart, name)}))
      .concat(columns.map(column => ({text: column.title, number: true})))
      .concat(before ? [{text: main.title + " before", number: true}, {text: "Change", number: true}] : [])
      .concat(lackHead(missing));
    const body = rows.map((row, index) => {
      const names = chart.rows.map((name, place) => {
        const partial = name === "period" && isNotOver(chart, row.names[0]);
        return {text: nameWords(chart, name, row.names[place]), partial,
          plain: name === "period" ? stepOf(chart) === "month" ? dayText(row.names[0]).slice(0, 7) : dayText(row.names[0])
            : plainName(chart, name, row.names[place])};
      });
      const numbers = columns.map(column => {
        const whole = column.whole && columnOf(chart, column.whole), isPart = whole && (whole.total !== "first" || isOneMonth);
        return {text: shownValue(chart, column, row.sums, currency), number: true, plain: plainValue(chart, column, row.sums, currency),
          share: isPart && coverage(chart, column, row.sums) !== "none" ? share(valueOf(column, row.sums), valueOf(whole, row.sums)) : ""};
      });
      const isPartial = isTime && isNotOver(chart, row.names[0]);
      const compared = before ? besideCells(chart, main, row.sums, before[index], currency, isPartial) : [];
      return {cells: names.concat(numbers, compared, lackCell(missing, row.names.join("\u0000"))), row};
    });
    if (isTime) body.reverse();
    const step = isTime && !chart.title.includes("month") ? " by " + stepOf(chart) : "";
    const span = chart.time ? step + ", " + rangeWords(chart, days) : "";
    return {heads, body, caption: chart.title + span + (currency ? ", in " + currency : "")};
  }
  const rangeWords = (chart, days) => stepOf(chart) === "month" && (days.byMonth || chart.time === "month")
    ? spanWords(monthWords(monthOf(days.from)), monthWords(monthOf(days.to))) : spanWords(dayWords(days.from), dayWords(days.to));
  // The sums of the earlier range: of the same place in time, or of the same name.
  function besides(chart, days, rows) {
    // As the key figures have it: the month that is not over has no counterpart in the range before.
    const other = earlier(days.byMonth && beside() !== "year" ? closed(days, true) : days, beside());
    const cube = cubeOf(chart);
    if (cube.earliest > placeOf(cube, other.from) || stepOf(chart) !== "month" && other.from < daysFrom) return null;
    const found = sums(chart, chart.rows, other);
    const periods = chart.rows[0] === "period" ? periodsOf(chart, other) : null;
    return rows.map((row, index) => {
      const key = periods ? String(periods[index]) : row.names.join("\u0000");
      return periods && periods[index] === undefined ? null : found.get(key)?.sums ?? {};
    });
  }
  const isGood = (chart, column) => page.tiles.find(tile => tile.chart === chart.id && tile.column === column.name)?.good
    ?? !chart.draw?.series.find(one => one.column === column.name)?.below;
  const toneOf = (before, now, good) => before === now ? "same" : now > before === good ? "better" : "worse";
  // A period that is not over is too low to compare.
  function besideCells(chart, column, own, past, currency, isPartial) {
    const now = valueOf(column, own), before = past && valueOf(column, past);
    if (before == null || now == null) return [{text: "–", number: true, plain: ""}, {text: "–", number: true, plain: ""}];
    if (coverage(chart, column, own) !== "whole" || coverage(chart, column, past) !== "whole") {
      return [{text: shownValue(chart, column, past, currency), number: true, plain: plainValue(chart, column, past, currency)},
        {text: "rates are missing", number: true, plain: ""}];
    }
    return [
      {text: words(before, column.kind, currency), number: true, plain: plainNumber(before, column.kind, currency)},
      isPartial ? {text: "so far", number: true, plain: ""} : {text: changeWords(before, now, column.kind, currency), number: true, tone: toneOf(before, now, isGood(chart, column)),
        plain: plainNumber(now - before, column.kind, currency)}
    ];
  }

  // ---- Elements.
  function element(name, attributes, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes ?? {})) {
      if (value === false || value == null) continue;
      if (typeof value === "function") made.addEventListener(key, value); else made.setAttribute(key, value === true ? "" : value);
    }
    made.append(...children.filter(child => child != null));
    return made;
  }
  const namespace = byId("patterns").namespaceURI;
  function shape(name, attributes, text) {
    const made = document.createElementNS(namespace, name);
    for (const [key, value] of Object.entries(attributes)) if (value != null) made.setAttribute(key, value);
    if (text != null) made.textContent = text;
    return made;
  }
  function table(id, shown, open) {
    const cell = (one, index) => {
      const parts = [index === 0 && open ? null : one.text];
      if (one.partial) parts.push(" ", element("span", {class: "partial"}, "so far"));
      if (one.share) parts.push(" ", element("span", {class: "share"}, one.share));
      return {one, parts};
    };
    const rows = shown.body.map(line => element("tr", {}, ...line.cells.map((one, index) => {
      const {parts} = cell(one, index);
      if (index === 0 && open && line.row) {
        parts[0] = element("button", {type: "button", class: "open", title: "Show the rows behind it", click: () => open(line.row)}, one.text);
      } else parts[0] = one.text;
      const type = (one.number ? "number" : one.lacks ? "lacks" : "") + (one.tone ? " change " + one.tone : "") + (one.heat != null ? " heat heat" + one.heat : "");
      return element(index === 0 ? "th" : "td", {class: type.trim() || null, scope: index === 0 ? "row" : null}, ...parts);
    })));
    return element("table", {id, class: shown.type}, element("caption", {}, shown.caption),
      element("thead", {}, element("tr", {}, ...shown.heads.map(one => element("th", {scope: "col", class: one.number ? "number" : one.lacks ? "lacks" : null}, one.text)))),
      element("tbody", {}, ...rows));
  }
  // A text that a spreadsheet would run as a formula begins with an apostrophe.
  const csvCell = text => { const safe = /^[=+@\t\r]|^-(?![\d.])/.test(text) ? "'" + text : text; return /[",\r\n]/.test(safe) ? '"' + safe.replaceAll('"', '""') + '"' : safe; };
  const csv = shown => [shown.heads.map(one => one.text)].concat(shown.body.map(line => line.cells.map(one => one.plain ?? one.text)))
    .map(line => line.map(csvCell).join(",") + "\r\n").join("");
  function download(name, text) {
    const address = URL.createObjectURL(new Blob(["\ufeff", text], {type: "text/csv"}));
    const link = element("a", {href: address, download: name + ".csv"});
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  }
  const csvButton = (name, title, make) => element("button", {type: "button", class: "csv", click: () => download(name, csv(make()))},
    "Download CSV", element("span", {class: "unseen"}, " of " + title));

  // ---- Heat maps: a row for each cohort, a column for each month after the first.
  function heat(chart) {
    const column = columnOf(chart, chart.draw.series[0].column), source = charts.get(chart.source), currency = currencyOf(chart);
    const soFar = source.columns.filter(one => one.total === "soFar").map(one => one.name).concat(source.unrated === "soFar" ? "unrated" : []);
    const missing = missingRates(chart, [chart.rows[0]], range());
    const size = source.columns.find(one => one.total === "first");
    const cohorts = new Map();
    for (const {names: [cohort, number], sums: own} of sums(chart, [chart.rows[0], "month_number"], range()).values()) {
      if (!cohorts.has(cohort)) cohorts.set(cohort, new Map());
      cohorts.get(cohort).set(+number, own);
    }
    let most = 0, width = 0;
    const lines = [...cohorts].sort(([one], [other]) => one < other ? 1 : -1).map(([cohort, cells]) => {
      const added = {}, values = [];
      for (const number of [...cells.keys()].sort((one, other) => one - other)) {
        const own = {...cells.get(number)};
        for (const name of soFar) own[name] = added[name] = (added[name] ?? 0) + (own[name] ?? 0);
        values[number] = valueOf(column, own);
        most = Math.max(most, values[number] ?? 0);
      }
      width = Math.max(width, values.length);
      const first = cells.get(0) ?? {};
      // As many as the value is divided by.
      return {cohort, size: (valueOf(size, first) ?? 0) - (first[lackOf(size)] ?? 0), values};
    // A cohort that only paid in currencies without a rate has no value.
    }).filter(line => line.values.some(value => value != null));
    const whole = column.kind === "rate" ? 1 : most;
    const percent = value => value > 0 && value < 0.005 ? "<1" : decimal(value * 100, 0);
    return {
      type: "cohorts", heads: [{text: heading(chart, chart.rows[0])}, {text: size.title, number: true}]
        .concat(Array.from({length: width}, (_, number) => ({text: String(number), number: true})), lackHead(missing)),
      caption: column.title + (column.kind === "rate" ? " in percent" : " in " + currency) + ", by months after the first; month 0 is the cohort’s own",
      body: lines.map(({cohort, size: count, values}) => ({
        cells: [{text: nameWords(chart, "cohort", cohort), plain: cohort}, {text: words(count, "count"), number: true, plain: String(count)}]
          .concat(Array.from({length: width}, (_, number) => values[number] == null ? {text: "", plain: ""} : {
            text: column.kind === "rate" ? percent(values[number]) : words(values[number], "money", currency),
            plain: plainNumber(values[number], column.kind, currency),
            heat: whole > 0 ? Math.max(0, Math.min(10, Math.floor(values[number] / whole * 10))) : 0
          }), lackCell(missing, cohort))
      }))
    };
  }

  // ---- Drawing. A bar's hatching says what its colour says; one that is still growing is lighter.
  const hatchings = [[], ["M0 8L8 0"], ["M0 0L8 8"], ["M0 4L8 4"], ["M0 8L8 0", "M0 0L8 8"], ["M4 0L4 8"], []];
  hatchings.forEach((paths, tone) => {
    const pattern = shape("pattern", {id: "tone" + tone, width: 8, height: 8, patternUnits: "userSpaceOnUse"});
    pattern.append(shape("rect", {width: 8, height: 8, class: "tone" + tone}), ...paths.map(path => shape("path", {d: path, class: "hatch"})));
    byId("patterns").append(pattern);
  });
  function ticks(least, most) {
    const span = most - least || 1, rough = span / 5, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map(one => one * power).find(one => one >= rough), list = [];
    for (let at = Math.floor(least / step) * step; at < most + step * 0.999; at += step) list.push(Math.abs(at) < step / 1e6 ? 0 : at);
    return list.length > 1 ? list : [0, 1];
  }
  const unitOf = (kind, currency) => kind === "money" ? currency : kind === "rate" ? "percent" : "";
  const scaled = (value, kind) => value == null ? null : kind === "money" ? value / 1000 : kind === "rate" ? value * 100 : value;
  // Product IDs have the same beginning and differ at the end, so the middle is left out.
  const letters = text => typeof Intl.Segmenter === "function" ? Array.from(new Intl.Segmenter("en").segment(text), one => one.segment) : Array.from(text);
  function shortened(names, most) {
    const first = names[0] ?? "", same = Array.from(first).findIndex((_, at) => names.some(name => name[at] !== first[at]));
    const prefix = names.length > 1 && same > 0 ? first.lastIndexOf(".", same - 1) + 1 : 0;
    const texts = names.map(name => name.slice(prefix));
    const cut = end => texts.map(text => {
      const all = letters(text);
      return all.length <= most ? text : all.slice(0, most - 1 - end).join("") + "…" + all.slice(-end).join("");
    });
    const even = cut(Math.floor(most / 2));
    return new Set(even).size === new Set(texts).size ? even : cut(most - 5);
  }
  function legend(list) {
    return list.length < 2 ? null : element("ul", {class: "legend"}, ...list.map(one => {
      const sample = shape("svg", {width: 16, height: 12, "aria-hidden": "true", focusable: "false"});
      sample.append(one.line ? shape("path", {d: "M0 6H16", class: "line tone" + one.tone + (one.dash ? " dashed" : "")})
        : shape("rect", {width: 16, height: 12, fill: "url(#tone" + one.tone + ")"}));
      return element("li", {}, sample, " " + one.title);
    }));
  }
  // `names` along the axis, `list` of {title, tone, line, below, values, text}, and what happens at a click.
  // A series apart has its own chart above the others, because its level would flatten them.
  function drawTime(box, names, list, options) {
    const apart = list.filter(one => one.apart), others = list.filter(one => !one.apart);
    box.replaceChildren(...[...(apart.length ? drawLayer(box, names, apart, 160, options) : []), ...drawLayer(box, names, others, 300, options),
      legend(list)].filter(Boolean));
  }
  function drawLayer(box, names, list, height, {kind, currency, partial, lacks, label, open, told}) {
    const width = Math.max(280, box.clientWidth || 640), top = 20, bottom = 30;
    const values = list.map(one => one.values.map(value => scaled(value, kind)).map(value => value != null && one.below ? -value : value));
    let least = 0, most = 0;
    names.forEach((_, at) => {
      let up = 0, down = 0;
      list.forEach((one, index) => {
        const value = values[index][at] ?? 0;
        if (one.line) { least = Math.min(least, value); most = Math.max(most, value); }
        else if (value > 0) up += value; else down += value;
      });
      least = Math.min(least, down);
      most = Math.max(most, up);
    });
    const scale = ticks(least, most), low = scale[0], high = scale.at(-1);
    const texts = scale.map(one => short.format(one) + (kind === "rate" ? "%" : ""));
    const left = 12 + 7 * Math.max(...texts.map(text => text.length)), inner = width - left - 8, step = inner / names.length;
    const y = value => top + (height - top - bottom) * (high - value) / (high - low), x = at => left + step * (at + 0.5);
    const svg = shape("svg", {viewBox: "0 0 " + width + " " + height, role: "img", "aria-label": label, width: "100%"});
    scale.forEach((one, index) => svg.append(
      shape("path", {d: "M" + left + " " + y(one) + "H" + (width - 8), class: one === 0 ? "zero" : "grid"}),
      shape("text", {x: left - 6, y: y(one) + 4, class: "tick end"}, texts[index])));
    if (unitOf(kind, currency)) svg.append(shape("text", {x: 2, y: 11, class: "tick unit"}, unitOf(kind, currency)));
    const every = Math.max(1, Math.ceil(74 / step));
    names.forEach((name, at) => {
      if ((names.length - 1 - at) % every === 0) svg.append(shape("text", {x: Math.min(x(at), width - 30), y: height - 12, class: "tick middle"}, name.replace("Week of ", "")));
    });
    const thick = Math.min(36, Math.max(1, step * 0.72));
    lacks?.forEach((one, at) => { if (one !== "whole") svg.append(shape("text", {x: x(at), y: top - 4, class: "tick middle lacking"}, "*")); });
    names.forEach((_, at) => {
      let up = 0, down = 0;
      list.forEach((one, index) => {
        const value = values[index][at];
        if (one.line || !value) return;
        const from = value > 0 ? up : down, to = from + value;
        if (value > 0) up = to; else down = to;
        svg.append(shape("rect", {x: x(at) - thick / 2, width: thick, y: Math.min(y(from), y(to)), height: Math.max(0.5, Math.abs(y(from) - y(to))),
          fill: "url(#tone" + one.tone + ")", class: "bar" + (partial[at] ? " growing" : "")}));
      });
    });
    list.forEach((one, index) => {
      if (!one.line) return;
      const points = values[index];
      const path = (from, to) => {
        let text = "", pen = false;
        for (let at = from; at < to; at += 1) {
          if (points[at] == null) { pen = false; continue; }
          text += (pen ? "L" : "M") + x(at).toFixed(1) + " " + y(points[at]).toFixed(1);
          pen = true;
        }
        return text;
      };
      const end = partial.at(-1) ? names.length - 1 : names.length;
      svg.append(shape("path", {d: path(0, end), class: "line tone" + one.tone + (one.dash ? " dashed" : "")}));
      if (end < names.length && end > 0) svg.append(shape("path", {d: path(end - 1, names.length), class: "line growing tone" + one.tone}));
      if (names.length <= 60 && !one.dash) points.forEach((value, at) => {
        if (value != null) svg.append(shape("circle", {cx: x(at), cy: y(value), r: 3, class: "point tone" + one.tone}));
      });
    });
    names.forEach((_, at) => {
      const area = shape("rect", {x: left + step * at, width: step, y: top, height: height - top - bottom, class: open ? "area open" : "area", "data-place": at});
      area.addEventListener("pointerenter", () => told(at));
      if (open) area.addEventListener("click", () => open(at));
      svg.append(area);
    });
    return [svg];
  }
  function drawRows(box, names, list, {kind, currency, notes, lacks, label, open, told}) {
    const width = Math.max(280, box.clientWidth || 640), line = notes ? 44 : 32, top = 8, height = top + names.length * line + 34;
    const values = list.map(one => one.values.map(value => scaled(value, kind)).map(value => value != null && one.below ? -value : value));
    let least = 0, most = 0;
    names.forEach((_, at) => {
      let up = 0, down = 0;
      values.forEach(own => { const value = own[at] ?? 0; if (value > 0) up += value; else down += value; });
      least = Math.min(least, down);
      most = Math.max(most, up);
    });
    const scale = ticks(least, most), low = scale[0], high = scale.at(-1);
    // At most two fifths of the width are for names, in letters of about 7 pixels.
    const shorts = shortened(names, Math.max(12, Math.min(40, Math.floor(width * 0.4 / 7))));
    const left = 12 + 7.4 * (Math.max(...shorts.map(name => letters(name).length), 6) + 1), x = value => left + (width - left - 24) * (value - low) / (high - low);
    const svg = shape("svg", {viewBox: "0 0 " + width + " " + height, role: "img", "aria-label": label, width: "100%"});
    const every = Math.ceil(scale.length * 48 / (width - left));
    scale.forEach((one, index) => {
      svg.append(shape("path", {d: "M" + x(one) + " " + top + "V" + (height - 30), class: one === 0 ? "zero" : "grid"}));
      if (index % every === 0) svg.append(shape("text", {x: x(one), y: height - 16, class: "tick middle"}, short.format(one) + (kind === "rate" ? "%" : "")));
    });
    if (unitOf(kind, currency)) svg.append(shape("text", {x: width - 8, y: height - 2, class: "tick unit end"}, unitOf(kind, currency)));
    names.forEach((name, at) => {
      const y = top + at * line;
      const text = shape("text", {x: left - 6, y: y + (notes ? 18 : 20), class: "tick end"}, shorts[at] + (lacks?.[at] === "part" ? "*" : ""));
      if (lacks?.[at] === "none") svg.append(shape("text", {x: x(0) + 4, y: y + 20, class: "tick lacking"}, "no rate"));
      text.append(shape("title", {}, name));
      svg.append(text);
      if (notes) svg.append(shape("text", {x: left, y: y + line - 6, class: "tick note"}, notes[at]));
      let up = 0, down = 0;
      list.forEach((one, index) => {
        const value = values[index][at];
        if (!value) return;
        const from = value > 0 ? up : down, to = from + value;
        if (value > 0) up = to; else down = to;
        svg.append(shape("rect", {x: Math.min(x(from), x(to)), width: Math.max(0.5, Math.abs(x(to) - x(from))), y: y + 4, height: 22,
          fill: "url(#tone" + one.tone + ")", class: "bar"}));
      });
      const area = shape("rect", {x: 0, width, y, height: line, class: open ? "area open" : "area", "data-place": at});
      area.addEventListener("pointerenter", () => told(at));
      if (open) area.addEventListener("click", () => open(at));
      svg.append(area);
    });
    box.replaceChildren(svg, ...[legend(list)].filter(Boolean));
  }

  // ---- One chart with its table.
  const drawn = new Set();
  function show(id, isEmpty) {
    for (const [part, hidden] of [["none-", !isEmpty], ["chart-", isEmpty], ["details-", isEmpty], ["readout-", isEmpty], ["scope-", isEmpty]]) {
      const found = byId(part + id);
      if (found) found.hidden = hidden;
    }
    const box = byId("table-" + id + "-box");
    if (box) box.hidden = isEmpty;
  }
  // The choices that a chart cannot follow, because its figures are not known by them.
  function unfollowed(chart) {
    const names = cubeOf(chart).names.concat(charts.get(chart.source).converted ? ["currency"] : []);
    return segments.filter(name => choice[name] !== "" && !names.includes(name)).map(name => ({
      app_id: "apps", product_id: "products", storefront: "storefronts", currency: "currencies"
    })[name]);
  }
  function scopeWords(chart, days) {
    const parts = [], missing = missingRate(chart, days);
    if (hasMoney(chart)) parts.push(amountWords(chart));
    if (chart.time) parts.push(rangeWords(chart, days));
    const all = unfollowed(chart);
    if (all.length) parts.push("all " + all.join(" and "));
    if (chart.time === "month" && choice.step !== "month") parts.push("known by month only");
    else if (chart.time && stepOf(chart) !== "month" && range().from < daysFrom) parts.push("by " + stepOf(chart) + " from " + dayWords(daysFrom));
    if (missing) parts.push((chart.draw && chart.draw.form !== "heat" ? "* " : "") + lackWords(missing));
    return parts.join("; ");
  }
  function tell(id, text) { const readout = byId("readout-" + id); if (readout) readout.textContent = text; }
  function drawChart(chart) {
    const days = daysOf(chart), currency = currencyOf(chart), box = byId("chart-" + chart.id);
    if (!byId("card-" + chart.id)) return;
    byId("behind-" + chart.id)?.remove();
    byId("scope-" + chart.id).textContent = scopeWords(chart, days);
    if (!box) return fillTable(chart);
    const rows = rowsOf(chart, days), isTime = chart.draw.form !== "rows";
    show(chart.id, rows.length === 0);
    drawn.delete(chart.id);
    if (!rows.length) return;
    const list = isTime ? rows : rows.slice(0, 10);
    const made = chart.draw.series.map(one => {
      const column = columnOf(chart, one.column);
      return {...one, title: column.title, kind: column.kind, values: list.map(row => valueOf(column, row.sums))};
    });
    const kind = made[0].kind, main = comparedColumn(chart);
    const before = beside() && chart.time ? besides(chart, days, list) : null;
    const isWhole = sums => !!sums && coverage(chart, main, sums) === "whole";
    const covered = (at, one) => one.column ? coverage(chart, columnOf(chart, one.column), list[at].sums) : "whole";
    const lacks = list.map((_, at) => {
      const found = made.map(one => covered(at, one)).filter(one => one !== "whole");
      return !found.length ? "whole" : found.every(one => one === "none") ? "none" : "part";
    });
    const compared = before?.map((past, at) => isWhole(past) && isWhole(list[at].sums) ? valueOf(main, past) : null);
    if (isTime && compared?.some(value => value != null)) {
      made.push({title: main.title + " " + (beside() === "year" ? "a year before" : "in the range before"), tone: 5, line: true, dash: true, kind,
        apart: made[0].apart, values: compared});
    }
    const names = list.map(row => chart.rows.map((name, place) => nameWords(chart, name, row.names[place])).join(" "));
    const bars = made.filter(one => !one.line);
    const told = at => {
      const sum = bars.reduce((sum, one) => sum + (one.values[at] ?? 0), 0);
      tell(chart.id, names[at] + (isTime && chart.rows[0] === "period" && isNotOver(chart, list[at].names[0]) ? " so far: " : ": ") + made.map(one =>
        one.title + " " + (covered(at, one) === "none" ? "no rate"
          : words(one.values[at], one.kind, currency) + (one.kind === "money" ? " " + currency : ""))
        + (chart.draw.shares && !one.line && share(one.values[at], sum) ? " (" + share(one.values[at], sum) + ")" : "")).join(", ") + (lacks[at] === "part" ? "; a part has no rate" : ""));
    };
    const label = "Chart: " + chart.title + (currency ? " in " + currency : "") + ", "
      + (chart.rows[0] === "period" ? spanWords(names[0], names.at(-1)) + (isNotOver(chart, list.at(-1).names[0]) ? ". " + names.at(-1) + " is not over" : "")
        : list.length + " of " + rows.length) + ". The table below has the figures.";
    const options = {
      kind, currency, label, told, lacks, open: at => openRows(chart, list[at]),
      partial: list.map(row => chart.rows[0] === "period" && isNotOver(chart, row.names[0])),
      notes: chart.draw.note ? list.map(row => {
        const [part, whole] = chart.draw.note.map(name => valueOf(columnOf(chart, name), row.sums));
        return words(part, "count") + " of " + words(whole, "count") + (share(part, whole) ? " (" + share(part, whole) + ")" : "");
      }) : null
    };
    if (isTime) drawTime(box, names, made, options); else drawRows(box, names, made, options);
    tell(chart.id, "");
    drawn.add(chart.id);
    if (byId("details-" + chart.id).open) fillTable(chart);
  }
  const modelOf = chart => chart.draw?.form === "heat" ? heat(chart) : model(chart);
  function fillTable(chart) {
    const box = byId("table-" + chart.id + "-box"), shown = modelOf(chart);
    show(chart.id, shown.body.length === 0);
    box.setAttribute("aria-label", shown.caption);
    box.replaceChildren(table("table-" + chart.id, shown, chart.draw?.form === "heat" ? null : row => openRows(chart, row, true)));
  }
  function drawPlain(chart) {
    const box = byId("chart-" + chart.id), {labels, values} = page.plain[chart.id];
    if (!box || !labels.length) return;
    const made = chart.draw.series.map((one, index) => ({...one, title: columnOf(chart, one.column).title, kind: "count", values: values[index]}));
    const told = at => tell(chart.id, labels[at] + ": " + made.map(one => one.title + " " + words(one.values[at], "count")).join(", "));
    const options = {kind: "count", partial: labels.map(() => false), label: "Chart: " + chart.title + ". The table below has the figures.", told};
    if (chart.draw.form === "rows") drawRows(box, labels.slice(0, 10), made, options); else drawTime(box, labels, made, options);
    drawn.add(chart.id);
  }

  // ---- The rows behind a figure: each app, product, storefront and currency in it.
  function behind(chart, row) {
    const cube = cubeOf(chart), currency = currencyOf(chart), columns = shownColumns(chart);
    const names = {}, isTime = chart.rows[0] === "period";
    if (!isTime) chart.rows.forEach((name, place) => { names[name] = row.names[place]; });
    const by = cube.names.filter(name => !(name in names));
    const days = daysOf(chart), main = mainColumn(chart);
    const found = [...sums(chart, by, days, isTime ? {period: row.names[0]} : {names}).values()]
      .sort((one, other) => Math.abs(valueOf(main, other.sums) ?? 0) - Math.abs(valueOf(main, one.sums) ?? 0));
    const title = chart.rows.map((name, place) => nameWords(chart, name, row.names[place])).join(", ");
    return {
      caption: chart.title + ", " + title + (currency ? ", in " + currency : "") + ": " + found.length + (found.length === 1 ? " row" : " rows"),
      heads: (by.length ? by.map(name => ({text: heading(chart, name)})) : [{text: "All"}]).concat(columns.map(column => ({text: column.title, number: true}))),
      body: found.map(one => ({
        cells: (by.length ? by.map((name, place) => ({text: nameWords(chart, name, one.names[place]), plain: plainName(chart, name, one.names[place])})) : [{text: title}]).concat(columns.map(column => {
          return {text: shownValue(chart, column, one.sums, currency), plain: plainValue(chart, column, one.sums, currency), number: true};
        }))
      }))
    };
  }
  function openRows(chart, row, fromTable) {
    byId("behind-" + chart.id)?.remove();
    const shown = behind(chart, row), close = () => { byId("behind-" + chart.id)?.remove(); byId("title-" + chart.id).focus(); };
    const most = 500, cut = {...shown, body: shown.body.slice(0, most)};
    const box = element("div", {id: "behind-" + chart.id, class: "behind", role: "region", "aria-label": shown.caption, tabindex: "-1"},
      element("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Rows"}, table("rows-" + chart.id, cut)),
      shown.body.length > most ? element("p", {class: "remark"}, "The first " + most + " rows; the CSV has all.") : null,
      element("p", {class: "tools"}, csvButton(chart.id + "-rows", "these rows", () => shown), " ", element("button", {type: "button", click: close}, "Close")));
    // Directly below what was chosen: the chart, or the table.
    const details = byId("details-" + chart.id);
    (fromTable || !details ? byId("table-" + chart.id + "-box") : byId("readout-" + chart.id)).after(box);
    box.focus();
  }

  // ---- The figures at the top.
  function tile(one) {
    const box = byId("tile-" + one.chart + "-" + one.column);
    if (!box) return;
    const chart = charts.get(one.chart), column = columnOf(chart, one.column), cube = cubeOf(chart), days = range();
    const currency = column.kind === "money" ? amounts(chart) : null, against = choice.against || "previous", isCompared = choice.against !== "none";
    const at = day => sumsIn(chart, {from: cube.time === "month" || day < daysFrom ? monthStart(monthOf(day)) : day, to: day});
    const whole = days.byMonth || cube.time === "month", span = closed(days, whole);
    let own, past = null, remark, than, counted = span;
    if (column.total === "last") {
      const end = Math.min(span.to, newest), isEnd = end === monthEnd(monthOf(end));
      const before = against !== "year" ? span.from - 1 : isEnd ? monthEnd(monthOf(end) - 12) : yearBefore(end);
      own = at(end);
      counted = {from: cube.time === "month" || end < daysFrom ? monthStart(monthOf(end)) : end, to: end};
      if (cube.earliest <= placeOf(cube, before) && (cube.time === "month" || before >= daysFrom || before === monthEnd(monthOf(before)))) past = at(before);
      remark = isEnd ? "at the end of " + monthWords(monthOf(end)) : cube.time === "month" ? "in " + monthWords(monthOf(end)) + ", so far" : "on " + dayWords(end);
      than = cube.time === "month" || before === monthEnd(monthOf(before)) ? "the end of " + monthWords(monthOf(before)) : dayWords(before);
    } else {
      const isOver = span.to <= lastOver, other = earlier(span, against);
      own = sumsIn(chart, span);
      const hasGap = one.chart === "deliveries" && page.gaps.some(([first, last]) => dayOf(first) <= other.to && dayOf(last) >= other.from);
      if (isOver && cube.earliest <= placeOf(cube, other.from) && !hasGap && (whole || other.from >= daysFrom)) past = sumsIn(chart, other);
      const spoken = one => whole ? spanWords(monthWords(monthOf(one.from)), monthWords(monthOf(one.to))) : spanWords(dayWords(one.from), dayWords(one.to));
      remark = spoken(span) + (isOver ? "" : ", so far");
      than = spoken(other);
    }
    if (column.kind === "rate") remark += ", " + [column.sum, column.divisor].map(terms => words(total(terms, own), "count")).join(" of ");
    const all = unfollowed(chart), [name] = box.children, now = valueOf(column, own), before = past && valueOf(column, past);
    const parts = [
      name, element("dd", {}, element("a", {href: "#card-" + one.chart}, shownValue(chart, column, own, currency))),
      element("dd", {class: "remark"}, (currency ? amountWords(chart) + ", " : "") + (all.length ? "all " + all.join(" and ") + ", " : "") + remark)
    ];
    const isWhole = coverage(chart, column, own) === "whole", missing = isWhole ? null : inMonths(() => missingRate(chart, counted, null, column));
    if (missing) parts.push(element("dd", {class: "remark lacks"}, lackWords(missing)));
    if (isCompared && before != null && now != null) {
      if (!isWhole || coverage(chart, column, past) !== "whole") parts.push(element("dd", {class: "change same"}, "no comparison: rates are missing"));
      else parts.push(element("dd", {class: "change " + toneOf(before, now, one.good)}, changeWords(before, now, column.kind, currency) + " against " + than));
    }
    box.replaceChildren(...parts);
  }
  // The sums over a range, by months and days as the page has them.
  function inMonths(compute) {
    const step = choice.step;
    choice.step = "month";
    const found = compute();
    choice.step = step;
    return found;
  }
  const sumsIn = (chart, days) => inMonths(() => sums(chart, [], days)).get("")?.sums ?? {};
  // What the amounts of the range lack, and how old their rates are.
  function tellRates() {
    if (page.reporting === null) return;
    const days = range(), missing = inMonths(() => missingRate(charts.get("sales"), days));
    const oldest = page.oldRates.filter(([month]) => monthOf(dayOf(month)) >= monthOf(days.from) && monthOf(dayOf(month)) <= monthOf(days.to))
      .sort(([, , , one], [, , , other]) => other - one)[0];
    byId("rates").textContent = !converts() ? "Amounts are as customers paid them, in " + amounts() + ". "
      : "Amounts are converted to " + page.reporting + " at the rate of their day" + (missing ? ", " + lackWords(missing) : "") + ". "
        + (oldest ? "Oldest rate used: " + oldest[1] + " of " + dayWords(dayOf(oldest[2])) + ", " + words(oldest[3], "count") + " days old. " : "");
  }

  // ---- The choice in the form and in the link.
  const fields = {app_id: "app", product_id: "product", storefront: "storefront", currency: "currency", range: "range", from: "from", to: "to", step: "step", against: "against"};
  const keys = {app_id: "app", product_id: "product", storefront: "storefront", currency: "currency", step: "by", against: "against"};
  function fillForm() {
    for (const segment of segments) {
      const select = byId(fields[segment]), names = page.names[segment];
      const all = segment !== "currency" ? "all" : page.reporting ? "All, in " + page.reporting
        : names.length > 1 ? "all; amounts in " + names[0] + " only" : "all";
      select.append(element("option", {value: ""}, all), ...names.map((name, index) => element("option", {value: index + 1}, segment === "currency" ? name + " purchases only" : titleOf(segment, index + 1))));
      if (page.others[segment] > 0 && segment !== "currency") select.append(element("option", {value: 0}, "other (" + page.others[segment] + " more)"));
      select.parentElement.hidden = names.length < 2;
    }
    for (const id of ["from", "to"]) {
      byId(id).min = dayText(monthStart(firstMonth));
      byId(id).max = page.newest;
    }
  }
  function showForm() {
    for (const [name, id] of Object.entries(fields)) byId(id).value = choice[name];
    for (const part of document.querySelectorAll(".free")) part.hidden = choice.range !== "free";
  }
  const isDay = text => /^\d{4}-\d{2}-\d{2}$/.test(text) && dayText(dayOf(text)) === text;
  function readForm() {
    const next = {...choice};
    for (const [name, id] of Object.entries(fields)) next[name] = segments.includes(name) && byId(id).value !== "" ? +byId(id).value : byId(id).value;
    if (next.range === "free" && choice.range !== "free") {
      const days = range();
      [next.from, next.to] = [dayText(days.from), dayText(days.to)];
    }
    if (next.range === "free" && !(isDay(next.from) && isDay(next.to) && next.from <= next.to)) {
      say("The range ends before it begins, or a date is missing.");
      return;
    }
    choice = next;
    tellMonths();
    showForm();
    keep();
    drawAll();
  }
  function tellMonths() {
    const {from, to} = range(), isAsked = choice.range !== "free" || dayText(from) === choice.from && (dayText(to) === choice.to || to === newest);
    say(isAsked ? "" : "Before " + dayWords(daysFrom) + " this page has whole months, so the range is " + spanWords(dayWords(from), dayWords(to)) + ".");
  }
  const say = text => { byId("said").textContent = text; };
  function fragment() {
    const text = new URLSearchParams();
    for (const [name, key] of Object.entries(keys)) {
      if (choice[name] !== initial[name]) text.set(key, segments.includes(name) ? choice[name] === 0 ? "(other)" : nameOf(name, choice[name]) : choice[name]);
    }
    if (choice.range === "free") text.set("range", choice.from + ".." + choice.to);
    else if (choice.range !== initial.range) text.set("range", choice.range);
    return String(text);
  }
  // A link keeps the choice; of a page without one the link is short.
  function keep() {
    const text = fragment();
    try { history.replaceState(null, "", text ? "#" + text : location.href.split("#")[0]); } catch { location.hash = text; }
  }
  function readLink() {
    const text = location.hash.slice(1);
    choice = {...initial};
    if (!text.includes("=")) return;
    const unknown = [];
    for (const [key, value] of new URLSearchParams(text)) {
      const name = Object.keys(keys).find(one => keys[one] === key);
      if (key === "range") {
        const [from, to] = value.split("..");
        if (to !== undefined && isDay(from) && isDay(to) && from <= to) Object.assign(choice, {range: "free", from, to});
        else if ([...byId("range").options].some(option => option.value === value && value !== "free")) choice.range = value;
        else unknown.push("range " + value);
      } else if (segments.includes(name)) {
        const place = value === "(other)" && page.others[name] > 0 ? 0 : page.names[name].indexOf(value) + 1 || -1;
        if (place >= 0) choice[name] = place; else unknown.push(key + " " + value);
      } else if (name && [...byId(fields[name]).options].some(option => option.value === value)) choice[name] = value;
      else unknown.push(key + " " + value);
    }
    if (unknown.length) say("This page does not have, from the link: " + unknown.join(", ") + "."); else tellMonths();
  }
  // A link within the page leads to its place and keeps the choice.
  document.addEventListener("click", event => {
    const link = event.target.closest?.('a[href^="#"]'), target = link && byId(link.getAttribute("href").slice(1));
    if (!target) return;
    event.preventDefault();
    const definitions = target.closest("#all-definitions");
    if (definitions) definitions.open = true;
    const card = target.matches(".card") && byId("details-" + target.id.slice(5));
    if (card) card.open = true;
    target.scrollIntoView();
    (target.matches("[tabindex]") ? target : target.querySelector("[tabindex='-1']"))?.focus({preventScroll: true});
  });

  // ---- Everything.
  // The first charts are drawn at once, and the others while the reader looks at them.
  let waiting = [], timer = 0;
  function drawWaiting(milliseconds) {
    const until = performance.now() + milliseconds;
    while (waiting.length && performance.now() < until) {
      const chart = waiting.shift();
      if (chart.plain) drawPlain(chart); else drawChart(chart);
    }
    if (waiting.length) timer = setTimeout(drawWaiting, 0, 40); else root.dataset.charts = drawn.size;
  }
  function drawCharts() {
    clearTimeout(timer);
    delete root.dataset.charts;
    waiting = [...page.charts];
    drawWaiting(100);
  }
  function drawAll() {
    page.tiles.forEach(tile);
    tellRates();
    drawCharts();
  }
  addEventListener("beforeprint", () => { clearTimeout(timer); drawWaiting(Infinity); });
  root.classList.add("drawn");
  // A link's target stays visible below the bar with the choices.
  const bar = () => root.style.setProperty("--bar", byId("choosers").offsetHeight + 16 + "px");
  fillForm();
  readLink();
  showForm();
  for (const id of Object.values(fields)) byId(id).addEventListener("change", readForm);
  byId("choosers").addEventListener("submit", event => event.preventDefault());
  byId("choosers").addEventListener("reset", event => { event.preventDefault(); choice = {...initial}; say(""); showForm(); keep(); drawAll(); });
  byId("link").addEventListener("click", () => {
    const address = location.href;
    navigator.clipboard ? navigator.clipboard.writeText(address).then(() => say("The link with this choice is copied."), () => say(address)) : say(address);
  });
  addEventListener("hashchange", () => { if (location.hash.includes("=")) { readLink(); showForm(); drawAll(); } });
  for (const chart of page.charts) {
    byId("details-" + chart.id)?.addEventListener("toggle", event => { if (event.target.open && !chart.plain) fillTable(chart); });
  }
  for (const box of document.querySelectorAll("[id^='table-'][id$='-box']")) {
    const id = box.id.slice(6, -4), chart = charts.get(id), title = byId("title-" + id).textContent;
    const own = byId("table-" + id);
    const fromHTML = () => ({
      heads: [...own.tHead.rows[0].cells].map(cell => ({text: cell.textContent})),
      body: [...own.tBodies[0].rows].map(row => ({cells: [...row.cells].map(cell => {
        const text = cell.querySelector("time")?.getAttribute("datetime") ?? [...cell.childNodes].filter(node => node.className !== "share").map(node => node.textContent).join("").trim();
        return {text: cell.className === "number" ? text.replaceAll(",", "").replaceAll("−", "-") : text};
      })}))
    });
    box.after(element("p", {class: "tools"}, csvButton(id, title, () => chart && !chart.plain ? modelOf(chart) : fromHTML())));
  }
  // The HTML has the key figures and charts of the initial choice. Reading the figures for more takes longer than showing the page.
  if (fragment()) drawAll(); else addEventListener("load", () => setTimeout(drawCharts));
  bar();
  let width = innerWidth;
  addEventListener("resize", () => {
    bar();
    if (innerWidth !== width) { width = innerWidth; drawAll(); }
  });
})();
