/// The few figures at the top.
struct KeyFigures {
    let figures: ReportFigures
    let currencies: [String]

    var html: HTML {
        let tiles = money + [subscriptions, trials, refundRate, delivery, lastRun].compactMap(\.self)
        return tiles.isEmpty ? .empty : "<dl class=\"tiles\" aria-label=\"Key figures\">\n\(tiles)</dl>\n"
    }

    /// One tile a currency; the page shows those of the chosen one.
    private var money: [HTML] {
        currencies.enumerated().flatMap { index, currency in
            [
                latest(.mrrMovement, "closing", "MRR", currency, isHidden: index > 0),
                latest(.revenue, "net", "Net sales", currency, isHidden: index > 0),
            ].compactMap(\.self)
        }
    }

    private func latest(
        _ question: ReportQuestion,
        _ column: String,
        _ name: String,
        _ currency: String,
        isHidden: Bool
    ) -> HTML? {
        let table = figures[question].of(currency: currency)
        guard let row = table.rows.first, let amount = table.numbers(column).first else { return nil }
        let value = FigureText.headline(amount, currency: currency)
        let month = FigureText.words(row[table.place(of: "month")], .month)
        return tile(name, value, "\(currency), \(month)", currency: currency, isHidden: isHidden)
    }

    private var subscriptions: HTML? {
        figures[.activeSubscriptions].numbers("active").first.map {
            tile("Paid subscriptions", FigureText.count($0), "active now")
        }
    }

    private var trials: HTML? {
        figures[.activeSubscriptions].numbers("trials").first.map { tile("Trials", FigureText.count($0), "running") }
    }

    private var refundRate: HTML? {
        share("Refund rate", .refundsByProduct, ["refunded"], of: "purchases", "purchases, 24 months")
    }

    private var delivery: HTML? {
        share("Notifications taken", .deliveries, ["at_once", "later"], of: "notifications", "in 30 days")
    }

    private func share(
        _ name: String,
        _ question: ReportQuestion,
        _ parts: [String],
        of whole: String,
        _ words: String
    ) -> HTML? {
        let table = figures[question]
        let all = table.numbers(whole).reduce(0, +)
        guard all > 0 else { return nil }
        let part = parts.flatMap(table.numbers).reduce(0, +)
        let (units, hundredths) = ((part * 10_000 + all / 2) / all).quotientAndRemainder(dividingBy: 100)
        let value = "\(units).\(hundredths < 10 ? "0" : "")\(hundredths)%"
        return tile(name, value, "\(FigureText.count(part)) of \(FigureText.count(all)) \(words)")
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
        return tile("Last run", words, "\(FigureText.words(row[table.place(of: "started")], .moment)) UTC")
    }

    private func tile(
        _ name: String,
        _ value: String,
        _ remark: String,
        currency: String? = nil,
        isHidden: Bool = false
    ) -> HTML {
        let mark: HTML = currency.map { " data-currency=\"\($0)\"" } ?? .empty
        return """
            <div class="tile"\(mark)\(isHidden ? " hidden" : "")><dt>\(name)</dt><dd>\(value)</dd><dd class="remark">\(remark)</dd></div>

            """
    }
}
