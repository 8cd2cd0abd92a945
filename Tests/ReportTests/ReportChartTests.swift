import Testing

@testable import Report

/// The files of the charts.
struct ReportChartTests {
    @Test func `every chart has a unique name, a section, a definition and documentation`() {
        let ids = ReportChart.all.map(\.id), sections = ReportChart.sections.map(\.id)
        #expect(Set(ids).count == ids.count && Set(sections).count == sections.count)
        for chart in ReportChart.all {
            #expect(!chart.title.isEmpty && sections.contains(chart.section), "\(chart.id)")
            #expect(chart.meaning.hasSuffix(".") && chart.docs.contains(".md"), "\(chart.id)")
        }
        #expect(sections.allSatisfy { section in ReportChart.all.contains { $0.section == section } })
    }

    @Test func `every chart draws, adds up and divides columns that its question has`() {
        for chart in ReportChart.all {
            let source = ReportChart.named(chart.source)
            #expect(source.source == source.id && !source.views.isEmpty, "\(chart.id)")
            let known = Set(chart.columns.map(\.name))
            let drawn =
                (chart.drawing?.series.map(\.column) ?? []) + (chart.drawing?.note.map { [$0.part, $0.whole] } ?? [])
            #expect(known.isSuperset(of: drawn + chart.columns.compactMap(\.whole)), "\(chart.id)")
            guard !chart.isPlain else { continue }
            let measures = Set(source.measures.map(\.name))
            #expect(measures.isSuperset(of: chart.columns.flatMap { $0.formula?.columns ?? [] }), "\(chart.id)")
            #expect(
                measures.isSuperset(of: chart.columns.filter { $0.kind.isNumber && $0.formula == nil }.map(\.name)),
                "\(chart.id)"
            )
            let names = source.segments + source.keys.map(\.name) + (source.time == nil ? [] : ["period"])
            #expect(Set(names).isSuperset(of: chart.rows), "\(chart.id)")
        }
    }

    @Test func `a key figure is a column of a chart with a time`() {
        for figure in KeyFigure.all {
            let chart = ReportChart.named(figure.chart)
            #expect(
                chart.columns.contains { $0.name == figure.column } && ReportChart.named(chart.source).time != nil,
                "\(figure.name)"
            )
        }
    }

    @Test(arguments: [
        "-- column: gross | gold | Sales", "-- column: gross | money", "-- column: gross | money at noon | Sales",
        "-- column: gross | money | Sales | /", "-- draw: pie gross", "-- draw: bars gross/red", "-- no key",
    ])
    func `a line that means nothing is an error that shows it`(line: String) {
        #expect(throws: ReportChart.BadChart.self) { try ReportChart("sales", Array("\(line)\nSELECT 1".utf8)) }
    }

    @Test func `a formula is a sum or a quotient of sums, and has no value where the divisor is zero`() throws {
        let values: [String: Double] = ["a": 6, "b": 2, "none": 0]
        func value(_ text: String) throws -> Double? { try #require(FigureFormula(text[...])).value { values[$0] } }
        #expect(try value("a - b") == 4)
        #expect(try value("12 * b") == 24)
        #expect(try value("(a + b) / (a - b)") == 2)
        #expect(try value("a / none") == nil)
        #expect(try value("a + unknown") == nil)
        #expect(FigureFormula("a / b / c") == nil && FigureFormula("") == nil)
    }

    @Test func `series of numbers are short, and skip what is zero`() {
        func written(_ numbers: [(Int, String?)]) -> String {
            FigureData.written(numbers.map { (place: $0.0, number: $0.1) })
        }
        #expect(written([(0, "35"), (1, "36"), (3, "-36")]) == "z,10,,-10")
        #expect(written([(2, "1"), (20, "1"), (21, "0"), (22, nil)]) == "2:1,+h,1")
        #expect(written([(0, "0")]).isEmpty)
    }

    @Test func `a page has as many products, storefronts and days in full as fit`() {
        #expect(ReportDetail.first(cells: 20, history: 24) == 0)
        let large = ReportDetail.all[ReportDetail.first(cells: 7_000, history: 24)]
        #expect(large == ReportDetail(products: 10, storefronts: 10, currencies: 10, months: 3))
        #expect(ReportDetail.first(cells: 1_000_000, history: 1_000) == ReportDetail.all.count - 1)
    }
}
