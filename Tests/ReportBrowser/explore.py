"""explore.py PAGE DATABASE: uses the report in Chromium as a reader does, and compares what it shows with SQL of the same choice.

Ends with the line "everything agrees", or with 1 and what differs. The ledger has rates to USD. Needs Selenium, chromium, chromedriver
and psql; with axe-core-python, the page's accessibility is checked too.
"""
import csv
import datetime
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

page, database = "file://" + os.path.abspath(sys.argv[1]), sys.argv[2]
downloads = os.path.join(os.path.dirname(os.path.abspath(sys.argv[1])), "downloads")
shutil.rmtree(downloads, ignore_errors=True)
os.makedirs(downloads)


def sql(statement):
    """The rows of a statement, each a list of texts."""
    output = subprocess.run(
        ["psql", "--no-psqlrc", "--tuples-only", "--no-align", "--field-separator=\x1f", "--set=ON_ERROR_STOP=1", database],
        input="SET search_path = appstore; SET TimeZone = 'UTC';\n" + statement + ";\n", capture_output=True, text=True, check=True,
    ).stdout
    return [line.split("\x1f") for line in output.split("\n") if line and line != "SET"]


def same(what, shown, expected):
    if shown != expected:
        differences = [(one, other) for one, other in zip(shown, expected) if one != other]
        sys.exit(f"{what}: the page shows {len(shown)} rows and SQL has {len(expected)}; first difference: "
                 f"{differences[0] if differences else (shown[-1:], expected[-1:])}")
    print(f"{what}: {len(shown)} rows agree")


def check(what, holds):
    if not holds:
        sys.exit(what)
    print(what)


options = Options()
options.binary_location = next(path for path in map(shutil.which, ["chromium", "chromium-browser", "google-chrome"]) if path)
for argument in ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1280,1400",
                 "--user-data-dir=" + os.path.join(downloads, "profile")]:
    options.add_argument(argument)
options.add_experimental_option("prefs", {"download.default_directory": downloads})
options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
# Selenium gives up after two minutes by default; a busy machine needs longer for axe.
PATIENCE = 900
driver.command_executor.client_config.timeout = PATIENCE
driver.set_script_timeout(PATIENCE)
driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": downloads})


def drawn():
    WebDriverWait(driver, PATIENCE).until(lambda _: driver.execute_script("return document.documentElement.dataset.charts"))


def load(fragment=""):
    driver.get("about:blank")
    driver.get(page + fragment)
    drawn()


def element(name):
    return driver.find_element(By.ID, name)


def table(name, open_details=True):
    """The cells of a table's body: numbers without commas and shares, and no column of what has no rate."""
    if open_details:
        driver.execute_script("const box = document.getElementById(arguments[0]); if (box) box.open = true", "details-" + name)
        time.sleep(0.05)
    return driver.execute_script("""
        return [...document.querySelectorAll("#" + arguments[0] + " tbody tr")].map(row => [...row.cells].filter(cell => !cell.className.includes("lacks")).map(cell => {
          const copy = cell.cloneNode(true);
          copy.querySelectorAll(".share, .partial").forEach(part => part.remove());
          const text = copy.textContent.trim();
          return cell.className.includes("number") ? text.replaceAll(",", "").replaceAll("−", "-") : text;
        }))""", ("table-" if open_details else "") + name)


def choose(**choice):
    """Chooses like a reader: by the visible text of lists, and dates as a date field has them."""
    for name, text in choice.items():
        if name in ("from_", "to"):
            driver.execute_script("""
                const field = document.getElementById(arguments[0]);
                field.value = arguments[1];
                field.dispatchEvent(new Event("change", {bubbles: true}))""", name.rstrip("_"), text)
        else:
            Select(element(name)).select_by_visible_text(text)
    drawn()


def month_words(day):
    return day.strftime("%b %Y")


def day_words(day):
    return f"{day.day} {month_words(day)}"


def months_until(day, count):
    """The first days of so many months, the last of which has the day, the newest first."""
    number = day.year * 12 + day.month - 1
    return [datetime.date((number - n) // 12, (number - n) % 12 + 1, 1) for n in range(count)]


# ---- What to choose: the largest product, and the two largest storefronts with a rate.
load()
KEY_FIGURES = "return document.getElementById('tiles').outerHTML + document.getElementById('rates').textContent"
written = driver.execute_script(KEY_FIGURES)
choose(range="3 months")
choose(range="12 months")
check("the key figures that the page has before the script draws any are the ones it draws", driver.execute_script(KEY_FIGURES) == written)
today = datetime.date.fromisoformat(sql("SELECT (now() AT TIME ZONE 'UTC')::date")[0][0])
last_month = months_until(today, 2)[1]
first_month = months_until(today, 13)[12]
RATES = "(VALUES ('EUR', 2), ('USD', 1)) r (currency, rate)"
product, storefront = sql(f"""SELECT product_id, storefront FROM revenue_by_day JOIN {RATES} USING (currency)
                               WHERE day >= '{last_month}' GROUP BY 1, 2 ORDER BY sum(purchases) DESC, 1, 2 LIMIT 1""")[0]
shown_product = driver.execute_script("return JSON.parse(document.getElementById('figures').textContent).names.product_id") [
    [row[0] for row in sql("""SELECT product_id FROM (SELECT product_id, purchases FROM revenue_by_month UNION ALL
                                SELECT product_id, 0 FROM subscriptions_by_status) s WHERE product_id IS NOT NULL
                               GROUP BY 1 ORDER BY sum(purchases) DESC, 1""")].index(product)]
COUNTRIES = dict(sql("SELECT storefront, country FROM storefronts"))
WHERE = f"product_id = $p${product}$p$ AND storefront = '{storefront}'"


def money(amount):
    return f"to_char(coalesce({amount}, 0) / 1000, 'FM999999999990.00')"


def sales(bucket, first, last, where, converted=True):
    """Rows of “Sales and refunds”: period, purchases, sales, refunds, refunded, net."""
    rate = "rate" if converted else "1"
    return {row[0]: row[1:] for row in sql(f"""
        SELECT {bucket}, sum(purchases), {money(f'sum(gross_milliunits * {rate})')}, sum(refunds), {money(f'sum(refunded_milliunits * {rate})')},
               {money(f'sum(net_milliunits * {rate})')}
          FROM revenue_by_day LEFT JOIN {RATES} USING (currency) WHERE day BETWEEN '{first}' AND '{last}' AND {where} GROUP BY 1""")}


def filled(rows, words, periods):
    """The same for every period from the first one with figures, the newest first."""
    periods = [one for one in periods if str(one) >= min(rows)] if rows else []
    return [[words(one)] + rows.get(str(one), ["0", "0.00", "0", "0.00", "0.00"]) for one in reversed(periods)]


# ---- A product, a storefront and a range, by day, week and month.
first = last_month - datetime.timedelta(days=20)
last = last_month + datetime.timedelta(days=14)
choose(product=shown_product, storefront=COUNTRIES[storefront], range="from … to …", from_=str(first), to=str(last), step="day")
days = [first + datetime.timedelta(days=n) for n in range((last - first).days + 1)]
same("by day", table("sales"), filled(sales("day", first, last, WHERE), day_words, days))
choose(step="week")
mondays = sorted({one - datetime.timedelta(days=one.weekday()) for one in days})
same("by week", table("sales"), filled(sales("date_trunc('week', day)::date", first, last, WHERE), lambda one: "Week of " + day_words(one), mondays))
choose(step="month")
months = sorted({one.replace(day=1) for one in days})
same("by month", table("sales"), filled(sales("date_trunc('month', day)::date", first, last, WHERE), month_words, months))
total = sql(f"SELECT {money('sum(net_milliunits * rate)')} FROM revenue_by_day LEFT JOIN {RATES} USING (currency) "
            f"WHERE day BETWEEN '{first}' AND '{last}' AND {WHERE}")[0][0]
tile = element("tile-sales-net").text.replace(",", "").replace("−", "-")
check(f"the tile of net sales is {total}", f"\n{total}\n" in tile and "All in USD" in tile)
same("other charts follow", table("movement"), [
    [month_words(datetime.date.fromisoformat(row[0]))] + row[1:] for row in sql(f"""
        SELECT date_trunc('month', day)::date, coalesce(sum(new) FILTER (WHERE {WHERE}), 0), coalesce(sum(resubscribed) FILTER (WHERE {WHERE}), 0),
               coalesce(sum(expired) FILTER (WHERE {WHERE}), 0), coalesce(sum(expired - resubscribed) FILTER (WHERE {WHERE}), 0)
          FROM subscription_movement_by_day WHERE day BETWEEN '{first}' AND '{last}' GROUP BY 1
        HAVING date_trunc('month', min(day)) >= (SELECT date_trunc('month', min(day)) FROM subscription_movement_by_day
                                                  WHERE day BETWEEN '{first}' AND '{last}' AND {WHERE}) ORDER BY 1 DESC""")])
fragment = driver.execute_script("return location.hash")
before = table("sales")
load(fragment)
same("the link keeps the choice", table("sales"), before)
check("an unknown name in a link is said", (load("#product=nobody&by=week"), element("said").text)[1] == "This page does not have, from the link: product nobody.")

# ---- One currency, without conversion.
load()
choose(currency="EUR purchases only", range="24 months")
months = sorted(months_until(today, 25))
two_years = months[0]
same("EUR alone", table("sales"), filled(sales("date_trunc('month', day)::date", two_years, today, "currency = 'EUR'", converted=False), month_words, months))
check("the axis has the currency", driver.execute_script("return document.querySelector('#chart-sales .unit').textContent") == "EUR")
check("a chart says what it cannot follow", "all currencies" in element("scope-movement").text)
proceeds = table("proceeds")
choose(currency="All, in USD")
same("proceeds keep their currency", proceeds, table("proceeds"))

# ---- Days before the first day of the page.
days_from = datetime.date.fromisoformat(driver.execute_script("return JSON.parse(document.getElementById('figures').textContent).daysFrom"))
begin, end = days_from - datetime.timedelta(days=50), days_from - datetime.timedelta(days=20)
load(f"#range={begin}..{end}")
months = sorted({begin.replace(day=1), end.replace(day=1)})
whole = sales("date_trunc('month', day)::date", months[0], days_from - datetime.timedelta(days=1), "true")
same("whole months", table("sales"), filled(whole, month_words, months))
check("the range is said", element("said").text.endswith(f"so the range is {day_words(months[0])} to {day_words(days_from - datetime.timedelta(days=1))}."))
check("a key figure names the months", f"{month_words(months[0])} to {month_words(months[1])}" in element("tile-sales-net").text)

# ---- The comparison with the range before, with sign, colour and word.
load()
choose(range="3 months", against="the year before")
rows = table("sales")
year = {row[0]: row[-1] for row in sql(f"""
    SELECT to_char(day + interval '1 year', 'YYYY-MM'), {money('sum(net_milliunits * rate)')}
      FROM revenue_by_day LEFT JOIN {RATES} USING (currency) GROUP BY 1""")}
shown_months = months_until(today, 4)
same("the year before", [row[-2] for row in rows], [year.get(one.strftime("%Y-%m"), "0.00") for one in shown_months[:len(rows)]])
changes = driver.execute_script("return [...document.querySelectorAll('#table-sales td.change, #tiles .change')].map(one => [one.textContent, one.className])")
check("changes have sign, word and colour", len(changes) > 4 and all(
    ("better" in tone or "worse" in tone) and (text[0] in "+−" and (" up" in text or " down" in text) or text.startswith(("up", "down")))
    or "same" in tone and ("no change" in text or "rates are missing" in text) for text, tone in changes))

choose(range="12 months", against="the range before")
before = {row[0]: row[-1] for row in sql(f"""
    SELECT to_char(day + interval '12 months', 'YYYY-MM'), {money('sum(net_milliunits * rate)')}
      FROM revenue_by_day LEFT JOIN {RATES} USING (currency) GROUP BY 1""")}
over = months_until(today.replace(day=1) - datetime.timedelta(days=1), 12)
compared = [row for row in table("sales") if row[0] in [month_words(one) for one in over]]
same("the range before has as many months", [row[-2] for row in compared], [before.get(one.strftime("%Y-%m"), "0.00") for one in over[:len(compared)]])

# ---- What has no rate: in each card, in the line below the key figures, in the tiles, and never as an amount.
load()
lost = sql(f"""SELECT count(DISTINCT coalesce(currency, 'not told')), to_char(sum(purchases), 'FM999,999,990'), (SELECT to_char(sum(purchases), 'FM999,999,990') FROM revenue_by_day
                WHERE day >= '{first_month}' AND day < '{today.replace(day=1)}')
                 FROM revenue_by_day LEFT JOIN {RATES} USING (currency)
                WHERE rate IS NULL AND gross_milliunits + refunded_milliunits <> 0 AND day >= '{first_month}' AND day < '{today.replace(day=1)}'""")[0]
words = f": {lost[1]} of {lost[2]} purchases"
check(f"the tile says what it lacks{words}", words in element("tile-sales-net").text and "without " in element("tile-sales-net").text)
check("a card says the same", words in element("scope-sales-by-country").text)
check("what lacks a rate is not compared", "no comparison: rates are missing" in element("tile-sales-net").text)
check("a country without a rate has no amount", sorted(row[0] for row in table("sales-by-country") if row[1] == "no rate") == sorted(row[0] for row in sql(
    f"""SELECT country FROM revenue_by_day LEFT JOIN {RATES} USING (currency) JOIN storefronts USING (storefront) WHERE day >= '{first_month}' AND day < '{today.replace(day=1)}'
         GROUP BY 1 HAVING count(rate) FILTER (WHERE gross_milliunits + refunded_milliunits <> 0) = 0 AND bool_or(gross_milliunits <> 0)""")))
choose(currency="EUR purchases only")
check("one currency lacks nothing", "without " not in element("tiles").text)
choose(currency="All, in USD", range="last year")
check("a year is January to December", f"Jan {today.year - 1} to Dec {today.year - 1}" in element("tile-sales-net").text)
choose(against="nothing")
check("nothing is compared", not driver.find_elements(By.CSS_SELECTOR, "#tiles .change"))

# ---- From a figure to its rows, and as CSV.
load()
driver.execute_script("document.getElementById('card-sales').scrollIntoView()")
place = driver.execute_script("return document.querySelectorAll('#chart-sales .area').length") - 2
driver.execute_script("document.querySelectorAll('#chart-sales .area')[arguments[0]].dispatchEvent(new MouseEvent('click', {bubbles: true}))", place)
rows = table("rows-sales", open_details=False)
def rated(amount):
    return f"CASE WHEN max(rate) IS NULL AND bool_or(gross_milliunits <> 0 OR refunded_milliunits <> 0) THEN 'no rate' ELSE {money(amount)} END"


expected = sql(f"""SELECT product_id, country, coalesce(currency, 'not told'), sum(purchases), {rated('sum(gross_milliunits * rate)')}, sum(refunds),
                          {rated('sum(refunded_milliunits * rate)')}, {rated('sum(net_milliunits * rate)')}
                     FROM revenue_by_day LEFT JOIN {RATES} USING (currency) JOIN storefronts USING (storefront)
                    WHERE date_trunc('month', day) = '{last_month}' GROUP BY product_id, country, currency""")
# The page shows invisible characters of a product's name as escapes.
same("the rows behind a figure", sorted(row[1:] for row in rows), sorted(row[1:] for row in expected))
driver.find_element(By.CSS_SELECTOR, "#behind-sales .csv").click()
table("sales")
driver.find_element(By.CSS_SELECTOR, "#details-sales .csv").click()
for _ in range(100):
    if all(os.path.exists(os.path.join(downloads, name)) for name in ["sales-rows.csv", "sales.csv"]):
        break
    time.sleep(0.1)
lines = list(csv.reader(pathlib.Path(downloads, "sales.csv").read_text(encoding="utf-8-sig").splitlines()))
same("the CSV of a table", [line[1:6] for line in lines[1:]], [[cell.replace("no rate", "") for cell in row[1:]] for row in table("sales")])
check("the CSV says what has no rate", lines[0][6:] == ["Without a rate"] and any("purchase" in line[6] for line in lines[1:]))
behind = list(csv.DictReader(pathlib.Path(downloads, "sales-rows.csv").read_text(encoding="utf-8-sig").splitlines()))
check("the CSV of rows has them all, with the codes of storefronts", sorted(COUNTRIES[line["Storefront"]] for line in behind) == sorted(row[1] for row in expected))

# ---- With the keyboard alone: a product, its table, the rows behind a month, and back.
load()


def press(*keys):
    for key in keys:
        driver.switch_to.active_element.send_keys(key)


def tab_until(holds, what):
    for _ in range(400):
        press(Keys.TAB)
        if driver.execute_script("const own = document.activeElement; return " + holds):
            return
    sys.exit(f"the keyboard does not reach {what}")


tab_until("own.id === 'product'", "the products")
press(Keys.ARROW_DOWN)
drawn()
check("an arrow key chooses a product", "product=" in driver.execute_script("return location.hash"))
outline = driver.execute_script("return getComputedStyle(document.activeElement).outlineStyle")
check("the focus is seen", outline != "none")
tab_until("own.matches('#details-sales summary')", "the table of sales")
press(Keys.ENTER)
tab_until("own.matches('#table-sales button')", "a row of the table")
press(Keys.ENTER)
check("the rows behind it have the focus", driver.switch_to.active_element.get_attribute("id") == "behind-sales")
tab_until("own.matches('#behind-sales .tools button:last-child')", "the button that closes")
press(Keys.ENTER)
check("closing returns to the chart", driver.switch_to.active_element.get_attribute("id") == "title-sales")

# ---- Light, dark, on a phone and on paper.
try:
    import axe_core_python
    axe = pathlib.Path(axe_core_python.__file__).with_name("axe.min.js").read_text()
except ImportError:
    axe = None
    print("accessibility is not checked: axe-core-python is not installed")


def accessible(what):
    if axe is None:
        return
    found = driver.execute_async_script(axe + """;
        axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}).then(result => arguments[arguments.length - 1](
          result.violations.map(one => one.id + ": " + one.help + " " + one.nodes.slice(0, 3).map(node => node.html.slice(0, 160)).join(" "))))""")
    check(f"axe finds nothing, {what}", not found) if not found else sys.exit(f"axe, {what}: " + json.dumps(found, indent=1))


def media(scheme="light", kind="screen"):
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": kind, "features": [{"name": "prefers-color-scheme", "value": scheme}]})


def luminance(selector, style):
    return driver.execute_script("""
        const [r, g, b] = getComputedStyle(document.querySelector(arguments[0]))[arguments[1]].match(/[0-9.]+/g).map(Number);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b""", selector, style)


media("light")
load("#against=previous")
driver.execute_script("document.querySelectorAll('#details-sales, #details-retention').forEach(one => { one.open = true })")
accessible("light")
check("light is light", luminance("body", "backgroundColor") > 200 > 100 > luminance("h1", "color"))
media("dark")
accessible("dark")
check("dark is dark", luminance("body", "backgroundColor") < 60 < 150 < luminance("h1", "color"))
check("bars are seen in the dark", driver.execute_script("return document.querySelectorAll('#chart-sales .bar').length") > 10)
media("dark", "print")
check("paper is light", luminance("h1", "color") < 100)
widest = driver.execute_script("return Math.max(...[...document.querySelectorAll('.chart svg')].map(one => one.getBoundingClientRect().right))")
check("no chart is wider than the sheet", widest <= driver.execute_script("return document.documentElement.clientWidth"))
printed = driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
check("the page prints", len(printed["data"]) > 50_000)
media("light")
driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True})
load()
check("a phone scrolls to no side", driver.execute_script("return document.documentElement.scrollWidth") <= 390)
names = driver.execute_script("return [...document.querySelectorAll('#chart-states text.tick.end:not(.unit)')].map(one => one.firstChild.textContent)")
check("names on a phone are short and differ", len(set(names)) == len(names) and all(len(name) < 30 for name in names))
accessible("on a phone")

errors = [one["message"] for one in driver.get_log("browser")]
driver.quit()
check("the console has no message", not errors) if not errors else sys.exit("console: " + "; ".join(errors))
print("everything agrees")
