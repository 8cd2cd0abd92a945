/// A heat map of retention.
///
/// It is a table: every cell shows its figure, and the colour repeats it.
struct CohortCard: ReportCard {
    let title: String
    let remark: String
    /// Its rows are `cohort`, `month_number`, `subscriptions`, `retained` and `rate`.
    let question: ReportQuestion
    let nothing: String

    var questions: [ReportQuestion] { [question] }

    func html(_ figures: ReportFigures, currencies: [String]) -> HTML {
        let table = figures[question]
        let content: HTML = table.isEmpty ? "<p class=\"empty\">\(nothing)</p>" : CohortTable(figures: table).html
        return card(question.name, title, remark, isWide: true, content)
    }
}

/// One row for each cohort, one column for each month after the first.
private struct CohortTable {
    let figures: FigureTable

    private struct Cohort {
        let month: String?
        var subscriptions = ""
        /// By the number of months after the first.
        var cells: [Int: (rate: String, retained: String)] = [:]
    }

    var html: HTML {
        let cohorts = cohorts
        let width = (cohorts.flatMap(\.cells.keys).max() ?? 0) + 1
        let heads: [HTML] = (0..<width).map { "<th scope=\"col\" class=\"number\">\($0)</th>" }
        let rows: [HTML] = cohorts.map { cohort in
            let cells: [HTML] = (0..<width).map { number in
                guard let (rate, retained) = cohort.cells[number] else { return "<td></td>" }
                let counts = "\(retained) of \(cohort.subscriptions)"
                return "<td class=\"heat heat\(step(rate))\" title=\"\(counts)\">\(FigureText.wholePercent(rate))</td>"
            }
            let month = FigureText.words(cohort.month, .month)
            return """
                <tr><th scope="row"><time datetime="\(cohort.month ?? "")">\(month)</time></th>\
                <td class="number">\(cohort.subscriptions)</td>\(cells)</tr>

                """
        }
        return """
            <div class="scroll" tabindex="0" role="region" aria-label="Retention by cohort">
            <table id="table-retention" class="cohorts"><caption>Active subscriptions in percent of the cohort, by months after the first payment without an introductory offer; month 0 is the cohort’s own</caption>
            <thead><tr><th scope="col">First paid in</th><th scope="col" class="number">Subscriptions</th>\(heads)</tr></thead>
            <tbody>
            \(rows)</tbody></table></div>
            """
    }

    /// In the ledger's order, with the newest first.
    private var cohorts: [Cohort] {
        let places = ["cohort", "month_number", "subscriptions", "rate", "retained"].map(figures.place)
        var cohorts: [Cohort] = []
        for row in figures.rows {
            if cohorts.isEmpty || cohorts[cohorts.count - 1].month != row[places[0]] {
                cohorts.append(Cohort(month: row[places[0]]))
            }
            guard let number = row[places[1]].flatMap({ Int($0) }), let rate = row[places[3]] else { continue }
            cohorts[cohorts.count - 1].subscriptions = FigureText.words(row[places[2]], .count)
            cohorts[cohorts.count - 1].cells[number] = (rate, FigureText.words(row[places[4]], .count))
        }
        return cohorts
    }

    /// The colour step, from 0 to 10.
    private func step(_ rate: String) -> Int { min(10, (FigureText.tenThousandths(rate) ?? 0) / 1_000) }
}
