/// The key figures at the top, each with its change from the previous period.
struct KeyFigures {
    let figures: ReportFigures
    let currencies: [String]

    var html: HTML {
        let tiles = money + [subscriptions, trials, refundRate, delivery, lastRun].compactMap(\.self)
        return tiles.isEmpty ? .empty : "<dl class=\"tiles\" aria-label=\"Key figures\">\n\(tiles)</dl>\n"
    }

    /// One tile for each currency; the page shows the tiles of the chosen currency.
    private var money: [HTML] {
        currencies.enumerated().flatMap { index, currency in
            [mrr(currency), sales(currency)].compactMap(\.self).map { $0.html(currency: currency, isHidden: index > 0) }
        }
    }

    /// The current recurring revenue, compared with the end of the previous month.
    private func mrr(_ currency: String) -> Tile? {
        let table = figures[.mrrMovement].of(currency: currency)
        guard let row = table.rows.first, let now = Self.number(row, "closing", table) else { return nil }
        let month = row[table.place(of: "month")]
        var tile = Tile(name: "MRR", value: FigureText.headline(now, currency: currency), remark: "\(currency), now")
        if !table.isPartial(month, .month) { tile.remark = "\(currency), end of \(FigureText.words(month, .month))" }
        if let before = Self.number(row, "opening", table) {
            let earlier = FigureText.headline(before, currency: currency)
            let month = month.flatMap { FigureText.month($0, less: 1) }
            tile.change =
                "\(FigureText.change(from: before, to: now, earlier: earlier)) since the end of \(FigureText.words(month, .month))"
        }
        return tile
    }

    /// The last complete month, compared with the month before it.
    ///
    /// An incomplete month would be too low.
    private func sales(_ currency: String) -> Tile? {
        let table = figures[.revenue].of(currency: currency)
        guard !table.isEmpty, let asOf = table.asOf else { return nil }
        let name = "Net sales"
        let present = String(asOf.prefix(7))
        func net(_ month: String) -> Int64? {
            table.rows.first { $0[table.place(of: "month")] == month }.flatMap { Self.number($0, "net", table) }
        }
        let soFar = net(present).map { FigureText.headline($0, currency: currency) }
        let presentWords = FigureText.words(present, .month)
        guard let last = FigureText.month(present, less: 1), let before = FigureText.month(present, less: 2),
            table.rows.contains(where: { ($0[table.place(of: "month")] ?? "") < present })
        else { return soFar.map { Tile(name: name, value: $0, remark: "\(currency), \(presentWords) so far") } }
        let (now, earlier) = (net(last) ?? 0, net(before) ?? 0)
        let change = FigureText.change(
            from: earlier,
            to: now,
            earlier: FigureText.headline(earlier, currency: currency)
        )
        let rest = soFar.map { "; \(presentWords) so far \($0)" } ?? ""
        return Tile(
            name: name,
            value: FigureText.headline(now, currency: currency),
            remark: "\(currency), \(FigureText.words(last, .month))\(rest)",
            change: "\(change) against \(FigureText.words(before, .month))"
        )
    }

    private var subscriptions: HTML? { active("Paid subscriptions", "active", "active now") }

    private var trials: HTML? { active("Trials", "trials", "running") }

    /// Today's number, compared with 30 days before.
    private func active(_ name: String, _ column: String, _ remark: String) -> HTML? {
        let table = figures[.activeSubscriptions]
        guard let row = table.rows.first, let now = Self.number(row, column, table) else { return nil }
        // A day without a row is before the first subscription.
        let before =
            table.rows.first { $0[table.place(of: "day")] == figures.daysBefore.thirty }
            .flatMap { Self.number($0, column, table) } ?? 0
        let change = FigureText.change(from: before, to: now, earlier: FigureText.count(before))
        return Tile(name: name, value: FigureText.count(now), remark: remark, change: "\(change) in 30 days").html()
    }

    /// Purchases of the last 12 complete months, compared with the 12 months before them.
    private var refundRate: HTML? {
        let table = figures[.refundsByMonth]
        guard let present = table.asOf?.prefix(7), let middle = FigureText.month(String(present), less: 12),
            let start = FigureText.month(String(present), less: 24)
        else { return nil }
        let month = table.place(of: "month")
        let now = table.having { ($0[month] ?? "") >= middle && ($0[month] ?? "") < present }
        let before = table.having { ($0[month] ?? "") >= start && ($0[month] ?? "") < middle }
        return share(
            "Refund rate",
            in: now,
            before: before,
            of: ["refunded"],
            among: "purchases",
            words: "purchases of 12 months",
            wordsBefore: "the 12 before"
        )
    }

    /// The last 30 days, compared with the 30 days before them if the ledger has all of these.
    private var delivery: HTML? {
        let table = figures[.deliveries]
        let day = table.place(of: "day")
        let (thirty, sixty) = figures.daysBefore
        let now = table.having { ($0[day] ?? "") > thirty }
        let isCovered = coversNotifications(after: sixty, until: thirty)
        let before = table.having { isCovered && ($0[day] ?? "") > sixty && ($0[day] ?? "") <= thirty }
        let parts = ["at_once", "later"]
        return share(
            "Notifications taken",
            in: now,
            before: before,
            of: parts,
            among: "notifications",
            words: "in 30 days",
            wordsBefore: "the 30 before"
        )
    }

    /// Whether the ledger has the notifications of every day after `start` until `end`.
    ///
    /// It does if it has an older notification and no gap of the job reaches into these days. A job that has read only the last
    /// days of Apple's history has no older one.
    private func coversNotifications(after start: String, until end: String) -> Bool {
        guard figures[.deliveries].values("day").contains(where: { ($0 ?? "9") <= start }) else { return false }
        let gaps = figures[.gaps]
        let (stream, first, last) = (gaps.place(of: "stream"), gaps.place(of: "first"), gaps.place(of: "last"))
        return !gaps.rows.contains { row in
            row[stream] == "notificationHistory" && String((row[first] ?? "").prefix(10)) <= end
                && String((row[last] ?? "").prefix(10)) > start
        }
    }

    /// The share of the columns `parts` in the column `whole`, compared with the period before.
    private func share(
        _ name: String,
        in now: FigureTable,
        before: FigureTable,
        of parts: [String],
        among whole: String,
        words: String,
        wordsBefore: String
    ) -> HTML? {
        func sums(_ table: FigureTable) -> (part: Int64, all: Int64) {
            (parts.flatMap(table.numbers).reduce(0, +), table.numbers(whole).reduce(0, +))
        }
        func hundredths(_ sums: (part: Int64, all: Int64)) -> Int64 { (sums.part * 10_000 + sums.all / 2) / sums.all }
        let (present, past) = (sums(now), sums(before))
        guard present.all > 0 else { return nil }
        let rate = hundredths(present)
        var tile = Tile(
            name: name,
            value: FigureText.percent(hundredths: rate),
            remark: "\(FigureText.count(present.part)) of \(FigureText.count(present.all)) \(words)"
        )
        if past.all > 0 { tile.change = FigureText.points(rate - hundredths(past)) + " against \(wordsBefore)" }
        return tile.html()
    }

    private var lastRun: HTML? {
        let table = figures[.runs]
        guard let row = table.rows.first else { return nil }
        // The exit codes of `storeledger run`.
        let words =
            switch row[table.place(of: "exit_code")] {
            case "0": "Complete"
            case "2": "With losses"
            case "75": "Work left"
            case .some: "Failed"
            case nil: "Unfinished"
            }
        let started = FigureText.words(row[table.place(of: "started")], .moment)
        return Tile(name: "Last run", value: words, remark: "\(started) UTC").html()
    }

    private static func number(_ row: [String?], _ column: String, _ table: FigureTable) -> Int64? {
        row[table.place(of: column)].flatMap { Int64($0) }
    }
}

private struct Tile {
    let name: String
    let value: String
    var remark: String
    /// Includes the period of the comparison.
    var change: String?

    func html(currency: String? = nil, isHidden: Bool = false) -> HTML {
        let mark: HTML = currency.map { " data-currency=\"\($0)\"" } ?? .empty
        let change: HTML = change.map { "<dd class=\"change\">\($0)</dd>" } ?? .empty
        return """
            <div class="tile"\(mark)\(isHidden ? " hidden" : "")><dt>\(name)</dt><dd>\(value)</dd>\
            <dd class="remark">\(remark)</dd>\(change)</div>

            """
    }
}
