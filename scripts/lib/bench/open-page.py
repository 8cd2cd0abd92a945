"""open-page.py PAGE: opens a report in Chromium five times, and prints the median of milliseconds until it shows figures and can be used, and
until every chart is drawn."""
import os
import shutil
import statistics
import sys

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

used, drawn = [], []
for _ in range(5):
    options = Options()
    options.binary_location = next(path for path in map(shutil.which, ["chromium", "chromium-browser", "google-chrome"]) if path)
    for argument in ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1280,900"]:
        options.add_argument(argument)
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        driver.get("about:blank")
        driver.get("file://" + os.path.abspath(sys.argv[1]))
        WebDriverWait(driver, 60, 0.01).until(lambda _: driver.execute_script("return document.documentElement.dataset.charts"))
        drawn.append(driver.execute_script("return performance.now()"))
        used.append(driver.execute_script("return performance.getEntriesByType('navigation')[0].loadEventEnd"))
    finally:
        driver.quit()
print(round(statistics.median(used)), round(statistics.median(drawn)))
