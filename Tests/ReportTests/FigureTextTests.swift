import AppStoreModel
import StrictJSON
import Testing

@testable import Report

/// How figures and names become text.
struct FigureTextTests {
    @Test(
        arguments: [
            (0, "USD", "0.00"), (9_990, "USD", "9.99"), (9_995, "USD", "10.00"), (-500, "USD", "−0.50"),
            (1_234_567_890, "EUR", "1,234,567.89"), (1_000_000, "JPY", "1,000"), (1_000_500, "JPY", "1,001"),
            (2_014_333_333, "VND", "2,014,333"), (-1_500, "KRW", "−2"), (-499, "JPY", "0"), (12_345, "KWD", "12.345"),
            (12_340, nil, "12.34"),
        ] as [(Double, String?, String)]
    )
    func `an amount has the digits of its currency`(milliunits: Double, currency: String?, words: String) {
        #expect(FigureText.money(milliunits, currency: currency) == words)
    }

    @Test(
        arguments: [
            ("0", .count, "0"), ("1234567", .count, "1,234,567"), ("-1234", .count, "−1,234"), (nil, .count, "–"),
            ("0.0123", .rate, "1.23%"), ("1.0000", .rate, "100.00%"), ("0", .rate, "0.00%"), ("1.5", .ratio, "1.50"),
            ("2026-11", .month, "Nov 2026"), ("2026-01-02", .day, "2 Jan 2026"),
            ("2026-11-22T04:05:06Z", .moment, "2026-11-22 04:05"), ("7500", .seconds, "2 h 5 min"),
            (nil, .text, "not told"), ("<b>", .text, "<b>"),
        ] as [(String?, FigureColumn.Kind, String)]
    )
    func `a figure reads as people write it`(value: String?, kind: FigureColumn.Kind, words: String) {
        #expect(FigureText.words(value, kind) == words)
    }

    @Test(
        arguments: [
            (12, 345, "3.5%"), (0, 7, "0.0%"), (7, 7, "100.0%"), (1, 3000, "0.0%"), (1, 2000, "0.1%"),
            (-3, 21, "−14.3%"),
            (-1, 3000, "0.0%"), (1, 0, nil), (nil, 3, nil),
        ] as [(Double?, Double, String?)]
    )
    func `a count's share is rounded to a tenth of a percent, also of a negative count, and a part of nothing has none`(
        part: Double?,
        whole: Double,
        share: String?
    ) {
        #expect(FigureText.share(part, of: whole) == share)
    }

    @Test(
        arguments: [
            (100, 103, "+3.0% up"), (1_000, 999, "−0.1% down"), (3, 3, "no change"), (0, 0, "no change"),
            (0, 5, "up from then"), (-5, -7, "down from then"), (8, 0, "−100.0% down"), (1, 30, "+2,900.0% up"),
        ] as [(Double, Double, String)]
    )
    func `a change has a sign and a word, and is in percent where percent say something`(
        before: Double,
        now: Double,
        words: String
    ) {
        #expect(FigureText.change(from: before, to: now, earlier: "then") == words)
    }

    @Test func `a change of a rate is in points`() {
        #expect(FigureText.points(from: 0.01, to: 0.022) == "+1.20 points up")
        #expect(FigureText.points(from: 0.5, to: 0.4995) == "−0.05 points down")
        #expect(FigureText.points(from: 0.5, to: 0.500001) == "no change")
    }

    @Test func `a cell of the heat map is a whole percent, and a small share is not shown as 0`() {
        #expect([0, 0.0049, 0.005, 0.1249, 1].map(FigureText.wholePercent) == ["0", "<1", "1", "12", "100"])
    }

    @Test func `every value inserted into markup stays text`() {
        let hostile = "<script>'\"&\u{202E}\u{7}\u{2028}"
        let html: HTML = "<td title=\"\(hostile)\">\(hostile)</td>"
        let safe = "&lt;script&gt;&#39;&quot;&amp;\\u{202E}\\u{7}\\u{2028}"
        #expect(html.text == "<td title=\"\(safe)\">\(safe)</td>")
    }

    @Test func `figures in a script cannot end it`() {
        let json = JSONValue.array([.string("</script><!--&"), .number(JSONNumber(text: "1.5"))]).inScript.text
        #expect(json == #"["\u003c/script\u003e\u003c!--\u0026",1.5]"#)
    }

    @Test func `days are counted over months and years`() {
        let newYear = CalendarDay(2027, 1, 1)
        #expect(newYear.yesterday == CalendarDay(2026, 12, 31) && newYear.yesterday.tomorrow == newYear)
        #expect(CalendarDay(2028, 3, 1).yesterday == CalendarDay(2028, 2, 29))
        #expect(newYear.number - CalendarDay(2026, 1, 1).number == 365)
        #expect(CalendarDay(month: newYear.monthNumber - 1).monthText == "2026-12")
        #expect(CalendarDay("2026-11-22T04:05:06Z")?.text == "2026-11-22" && CalendarDay("soon") == nil)
    }
}
