/// Retention as a heat map that is a table: every cell has its figure, the colour only repeats it.
struct CohortSection {
    let figures: FigureTable

    private struct Cohort {
        let month: String?
        var subscriptions = ""
        /// By months after the first.
        var rates: [Int: String] = [:]
    }

    var html: HTML {
        """
        <section class="card wide" aria-labelledby="title-retention">
        <h2 id="title-retention">Retention</h2>
        <p class="remark">Of the subscriptions first paid for in a month, how many were active at the end of each later month.</p>
        \(figures.isEmpty ? "<p class=\"empty\">No month of paid subscriptions is over yet.</p>" : table)
        </section>

        """
    }

    private var table: HTML {
        let cohorts = cohorts
        let width = (cohorts.flatMap(\.rates.keys).max() ?? 0) + 1
        let heads: [HTML] = (0..<width).map { "<th scope=\"col\" class=\"number\">\($0)</th>" }
        let rows: [HTML] = cohorts.map { cohort in
            let cells: [HTML] = (0..<width).map { number in
                guard let rate = cohort.rates[number] else { return "<td></td>" }
                return "<td class=\"heat heat\(step(rate))\">\(FigureText.percent(rate))</td>"
            }
            let month = FigureText.words(cohort.month, .month)
            return """
                <tr><th scope="row"><time datetime="\(cohort.month ?? "")">\(month)</time></th>\
                <td class="number">\(cohort.subscriptions)</td>\(cells)</tr>

                """
        }
        return """
            <div class="scroll" tabindex="0" role="region" aria-label="Retention by cohort">
            <table id="table-retention" class="cohorts"><caption>Active subscriptions in percent of the cohort, by months after the first payment; month 0 is the cohort’s own</caption>
            <thead><tr><th scope="col">First paid in</th><th scope="col" class="number">Subscriptions</th>\(heads)</tr></thead>
            <tbody>
            \(rows)</tbody></table></div>
            """
    }

    /// In the ledger's order, the newest first.
    private var cohorts: [Cohort] {
        let places = ["cohort", "month_number", "subscriptions", "rate"].map(figures.place)
        var cohorts: [Cohort] = []
        for row in figures.rows {
            if cohorts.isEmpty || cohorts[cohorts.count - 1].month != row[places[0]] {
                cohorts.append(Cohort(month: row[places[0]]))
            }
            guard let number = row[places[1]].flatMap({ Int($0) }), let rate = row[places[3]] else { continue }
            cohorts[cohorts.count - 1].subscriptions = FigureText.words(row[places[2]], .count)
            cohorts[cohorts.count - 1].rates[number] = rate
        }
        return cohorts
    }

    /// 0 to 10.
    private func step(_ rate: String) -> Int { min(10, (FigureText.hundredths(rate) ?? 0) / 1_000) }
}
