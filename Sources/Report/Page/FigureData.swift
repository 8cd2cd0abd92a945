import AppStoreModel
import StrictJSON

/// The figures in the page for its script.
///
/// A chart's figures are series of numbers. Each has a name in each segment, and one number for each month and then each day. The
/// numbers are written with the digits 0 to z and separated by commas; an empty one is 0, `+h` is 17 zeros, and the place of the first number
/// stands before a colon.
struct FigureData {
    let figures: ReportFigures
    private let firstMonth: Int

    init(figures: ReportFigures) {
        self.figures = figures
        firstMonth = figures.firstMonth
    }

    var json: JSONValue {
        .object(scope + charts)
    }

    /// What the figures are about.
    private var scope: [(String, JSONValue)] {
        let scope = figures.scope
        let names = ReportChart.segments.map { ($0, JSONValue.array(scope.names($0).map { .string(shown($0)) })) }
        let others = scope.others.sorted { $0.key < $1.key }.map { ($0.key, JSONValue.integer($0.value)) }
        let oldRates = scope.oldRates.map { rate in
            JSONValue.array([.string(rate.month), .string(rate.currency), .string(rate.day), .integer(rate.days)])
        }
        let currencies = Set(scope.currencies + [scope.reporting].compactMap(\.self)).sorted()
        return [
            ("newest", .string(figures.newestDay.text)), ("newestIsOver", .bool(figures.isNewestDayOver)),
            ("first", .string(CalendarDay(month: firstMonth).monthText)), ("daysFrom", .string(scope.daysFrom.text)),
            ("names", .object(names)), ("others", .object(others)),
            ("countries", .object(scope.countries.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) })),
            ("reporting", scope.reporting.map(JSONValue.string) ?? .null), ("oldRates", .array(oldRates)),
            ("digits", .object(currencies.map { ($0, .integer(FigureText.digits(of: $0))) })),
        ]
    }

    private var charts: [(String, JSONValue)] {
        let summed = ReportChart.questions.filter { !$0.isPlain }
        let plain = ReportChart.questions.filter { $0.isPlain && $0.drawing != nil }
        let headings = summed.map { chart in
            (chart.id, JSONValue.object(chart.keys.map { ($0.name, JSONValue.string($0.title)) }))
        }
        return [
            ("charts", .array(ReportChart.all.filter { !$0.isPlain || $0.drawing != nil }.map(definition))),
            ("headings", .object(headings)), ("tiles", .array(KeyFigure.all.map(\.json))), ("gaps", .array(gaps)),
            ("cubes", .object(summed.map { ($0.id, series(of: $0)) })),
            ("plain", .object(plain.map { ($0.id, rows(of: $0)) })),
        ]
    }

    private func definition(_ chart: ReportChart) -> JSONValue {
        let source = ReportChart.named(chart.source)
        var members: [(String, JSONValue)] = [
            ("id", .string(chart.id)), ("title", .string(chart.title)), ("source", .string(chart.source)),
            ("rows", .array(chart.rows.map(JSONValue.string))),
            ("time", source.time.map { .string($0.kind.rawValue) } ?? .null), ("plain", .bool(chart.isPlain)),
            ("columns", .array(chart.columns.filter(isValue).map(column))),
            ("converted", .bool(chart.isConverted)), ("unrated", .string(chart.unratedTotal.rawValue)),
        ]
        if let drawing = chart.drawing { members.append(("draw", draw(drawing))) }
        return .object(members)
    }

    /// The other columns name the rows.
    private func isValue(_ column: FigureColumn) -> Bool { column.kind.isNumber }

    private func column(_ column: FigureColumn) -> JSONValue {
        var members: [(String, JSONValue)] = [
            ("name", .string(column.name)), ("title", .string(column.title)), ("kind", .string(column.kind.rawValue)),
            ("total", .string(column.total.rawValue)),
        ]
        if column.isOptional { members.append(("optional", .bool(true))) }
        if let whole = column.whole { members.append(("whole", .string(whole))) }
        if let formula = column.formula {
            members.append(("sum", terms(formula.sum)))
            if !formula.divisor.isEmpty { members.append(("divisor", terms(formula.divisor))) }
        }
        return .object(members)
    }

    private func terms(_ terms: [FigureFormula.Term]) -> JSONValue {
        .array(terms.map { .array([.number(JSONNumber(text: "\(Int($0.factor))")), .string($0.column)]) })
    }

    private func draw(_ drawing: ReportDrawing) -> JSONValue {
        .object([
            ("form", .string(drawing.form.rawValue)), ("shares", .bool(drawing.hasShares)),
            ("note", drawing.note.map { .array([.string($0.part), .string($0.whole)]) } ?? .null),
            (
                "series",
                .array(
                    drawing.series.map { series in
                        .object([
                            ("column", .string(series.column)), ("tone", .integer(series.tone)),
                            ("line", .bool(series.isLine)),
                            ("below", .bool(series.isBelow)), ("apart", .bool(series.isApart)),
                        ])
                    }
                )
            ),
        ])
    }

    /// The first and last day of what Apple's notification history no longer had.
    private var gaps: [JSONValue] {
        let table = figures[.named("gaps")]
        guard !table.isEmpty else { return [] }
        let (stream, first, last) = (table.place(of: "stream"), table.place(of: "first"), table.place(of: "last"))
        return table.rows.filter { $0[stream] == "notificationHistory" }.map { row in
            .array([row[first], row[last]].map { .string(String(($0 ?? "").prefix(10))) })
        }
    }

    private func series(of chart: ReportChart) -> JSONValue {
        let table = figures[chart]
        let names = chart.names(hasApps: figures.scope.apps.count > 1).filter { $0 != chart.time?.name }
        let values = table.columns.filter { !names.contains($0) && $0 != chart.time?.name }
        let namePlaces = names.map(table.place), valuePlaces = values.map(table.place)
        let time = chart.time.map { (place: table.place(of: $0.name), kind: $0.kind) }
        var rows: [JSONValue] = []
        var series = [[JSONValue]](repeating: [], count: values.count)
        var start = 0
        while start < table.rows.count {
            let key = namePlaces.map { table.rows[start][$0] }
            var end = start + 1
            while end < table.rows.count, namePlaces.indices.allSatisfy({ table.rows[end][namePlaces[$0]] == key[$0] })
            { end += 1 }
            rows.append(.array(zip(names, key).map(name)))
            for (index, place) in valuePlaces.enumerated() {
                let numbers = table.rows[start..<end].map { row in
                    (time.map { self.place(row[$0.place], $0.kind) } ?? 0, row[place])
                }
                series[index].append(.string(Self.written(numbers)))
            }
            start = end
        }
        return .object([
            ("names", .array(names.map(JSONValue.string))), ("rows", .array(rows)),
            (
                "values",
                // Most of what could lack a rate has one.
                .object(zip(values, series).map { ($0, .array($1.allSatisfy { $0 == .string("") } ? [] : $1)) })
            ),
        ])
    }

    private func name(_ column: String, _ value: String?) -> JSONValue {
        if ReportChart.segments.contains(column) { return .number(JSONNumber(text: value ?? "-1")) }
        return value.map { .string(shown($0)) } ?? .null
    }

    /// The place of a month or day: first the months, from the first one, then the days.
    private func place(_ text: String?, _ kind: FigureColumn.Kind) -> Int {
        guard let day = text.flatMap(CalendarDay.init) else { return 0 }
        let from = figures.scope.daysFrom
        guard kind == .day, day >= from else { return day.monthNumber - firstMonth }
        return from.monthNumber - firstMonth + day.number - from.number
    }

    /// - Parameter numbers: Places and numbers, by place.
    static func written(_ numbers: [(place: Int, number: String?)]) -> String {
        var text = "", next = 0
        for (place, number) in numbers {
            guard let number = number.flatMap({ Int64($0) }), number != 0 else { continue }
            if text.isEmpty {
                text = place == 0 ? "" : "\(place):"
            } else {
                // A long way to the next number is written as one, and shorter ones as commas.
                let step = place - next
                text += step > 4 ? ",+\(String(step - 1, radix: 36))," : String(repeating: ",", count: step)
            }
            next = place
            text += String(number, radix: 36)
        }
        return text
    }

    /// The names along the axis and the values of a table that does not follow the filters; the script draws it as it is.
    private func rows(of chart: ReportChart) -> JSONValue {
        let table = figures[chart]
        guard !table.isEmpty else { return .object([("labels", .array([])), ("values", .array([]))]) }
        let label = table.place(of: chart.columns[0].name)
        let isOldestFirst = chart.drawing?.form == .bars
        let rows = isOldestFirst ? table.rows.reversed() : table.rows
        let values = (chart.drawing?.series ?? []).map { series in
            let place = table.place(of: series.column)
            return JSONValue.array(rows.map { row in row[place].map { .number(JSONNumber(text: $0)) } ?? .null })
        }
        return .object([
            ("labels", .array(rows.map { .string(shown($0[label] ?? "")) })), ("values", .array(values)),
        ])
    }
}

extension JSONValue {
    static func object(_ members: [(String, JSONValue)]) -> JSONValue {
        .object(JSONObject(members.map { JSONObject.Member(key: $0.0, value: $0.1) }))
    }

    static func integer(_ number: Int) -> JSONValue { .number(JSONNumber(text: String(number))) }

    /// The text of a `<script>` element.
    ///
    /// It contains nothing that could end the element or start a comment.
    var inScript: HTML {
        .trusted(
            JSONWriter.text(self).replacing("<", with: "\\u003c").replacing(">", with: "\\u003e")
                .replacing("&", with: "\\u0026")
        )
    }
}
