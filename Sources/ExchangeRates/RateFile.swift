import Basics
import CSVFormat

/// The rates in a file: the European Central Bank's, or `day,currency,rate`.
struct RateFile {
    /// What one cell says.
    private struct Quote {
        let day: String
        let currency: String
        let units: String
        let line: Int
    }

    /// The names of the columns of the plain form.
    private static let plainColumns = ["day", "currency", "rate"]

    private let path: String
    /// Whether the rates are units of their currency for one euro, as the European Central Bank's are.
    private let isPerEuro: Bool
    private let names: [String]
    private var quotes: [Quote] = []
    /// The places in ``quotes``, by day and currency.
    private var places: [String: Int] = [:]

    /// Reads the whole file.
    ///
    /// - Throws: ``RateFileError``.
    init(path: String) throws {
        self.path = path
        do {
            var records = try CSVReader(path: path).records()
            let header = try records.next { record in (0..<record.count).map { record.text($0) } }
            guard let header else { throw RateFileError.noRates(path: path) }
            names = header
            isPerEuro = header.first == "Date"
            try isPerEuro ? checkBankHeader() : checkPlainHeader()
            while let row = try records.next({ Row(record: $0) }) {
                try isPerEuro ? readBankRow(row) : readPlainRow(row)
            }
        } catch let error as CSVError {
            throw RateFileError.unreadable(error)
        }
        if quotes.isEmpty { throw RateFileError.noRates(path: path) }
    }

    /// The rates to one currency.
    ///
    /// A day on which the European Central Bank has no rate of `currency` is left out.
    ///
    /// - Throws: ``RateFileError``.
    func rates(to currency: String) throws(RateFileError) -> [Rate] {
        let rates = isPerEuro ? try crossRates(to: currency) : try plainRates(to: currency)
        if rates.isEmpty { throw .noRates(path: path) }
        return rates
    }

    private func crossRates(to currency: String) throws(RateFileError) -> [Rate] {
        guard currency == "EUR" || names.contains(currency) else {
            throw .withoutCurrency(path: path, currency: currency)
        }
        var rates: [Rate] = []
        for quote in quotes {
            if quote.currency == currency {
                rates.append(Rate(day: quote.day, currency: "EUR", units: quote.units, divisor: "1", line: quote.line))
            } else if currency == "EUR" {
                rates.append(
                    Rate(day: quote.day, currency: quote.currency, units: "1", divisor: quote.units, line: quote.line)
                )
            } else if let place = places[quote.day + currency] {
                let units = quotes[place].units
                rates.append(
                    Rate(day: quote.day, currency: quote.currency, units: units, divisor: quote.units, line: quote.line)
                )
            }
        }
        return rates
    }

    private func plainRates(to currency: String) throws(RateFileError) -> [Rate] {
        for quote in quotes where quote.currency == currency && Double(quote.units) != 1 {
            throw error(
                quote.line,
                2,
                "the rate of \(currency) is \(quote.units), but it is the currency of --currency, whose rate is 1; the rates are of another base"
            )
        }
        let rates = quotes.filter { $0.currency != currency }
            .map { Rate(day: $0.day, currency: $0.currency, units: $0.units, divisor: "1", line: $0.line) }
        if rates.isEmpty { throw .onlyItself(path: path, currency: currency) }
        return rates
    }

    // MARK: The European Central Bank's form

    private func checkBankHeader() throws(RateFileError) {
        for (place, name) in names.enumerated().dropFirst() {
            // The bank's rows end in a comma.
            if name.isEmpty, place == names.count - 1 { continue }
            if name == "EUR" {
                throw error(1, place, "rates for one euro have no column EUR; the rates are of another base")
            }
            guard CurrencyCode.isKnown(name) else { throw error(1, place, Self.unknown(name)) }
            if names.firstIndex(of: name) != place { throw error(1, place, "the currency has two columns") }
        }
    }

    private mutating func readBankRow(_ row: Row) throws(RateFileError) {
        try checkEnd(of: row, isClosed: names.last?.isEmpty == true)
        guard let day = calendarDay(row.cells[0]) ?? longDay(row.cells[0]) else {
            throw error(row.line, 0, "the day is \(shown(row.cells[0])); it must be a date such as 2026-11-27")
        }
        for (place, cell) in row.cells.enumerated().dropFirst() where cell != "N/A" {
            if names[place].isEmpty {
                guard cell.isEmpty else {
                    throw error(row.line, place, "the cell \(shown(cell)) has no column in the header")
                }
                continue
            }
            guard isRate(cell) else { throw error(row.line, place, Self.rule(cell) + ", or N/A") }
            try add(Quote(day: day, currency: names[place], units: cell, line: row.line), place)
        }
    }

    // MARK: The plain form

    private func checkPlainHeader() throws(RateFileError) {
        guard names.first == "day" else {
            throw .unknownHeader(path: path, found: shown(names.first ?? ""))
        }
        for (place, name) in Self.plainColumns.enumerated() where place >= names.count || names[place] != name {
            let found = place < names.count ? "is \(shown(names[place]))" : "is missing"
            throw error(1, place, "the column \(found); the header must be day,currency,rate")
        }
        if names.count > 3 { throw error(1, 3, "the header must be day,currency,rate") }
    }

    private mutating func readPlainRow(_ row: Row) throws(RateFileError) {
        try checkEnd(of: row, isClosed: false)
        guard let day = calendarDay(row.cells[0]) else {
            throw error(row.line, 0, "the day is \(shown(row.cells[0])); it must be a date such as 2026-11-27")
        }
        guard CurrencyCode.isKnown(row.cells[1]) else { throw error(row.line, 1, Self.unknown(row.cells[1])) }
        guard isRate(row.cells[2]) else { throw error(row.line, 2, Self.rule(row.cells[2])) }
        try add(Quote(day: day, currency: row.cells[1], units: row.cells[2], line: row.line), 2)
    }

    // MARK: Both forms

    /// Refuses a row with another number of cells than the header, and a last row that can be cut off.
    ///
    /// - Parameter isClosed: Whether each row ends in a comma, so that a row with all its cells is whole.
    private func checkEnd(of row: Row, isClosed: Bool) throws(RateFileError) {
        if row.cells.count < names.count {
            throw error(row.line, row.cells.count, "the row ends before this column; the file seems to be cut off")
        }
        if row.cells.count > names.count { throw error(row.line, names.count, "the header has no such column") }
        if row.isEndedByFile, !isClosed {
            throw error(row.line, names.count - 1, "the last line has no line end, so the file seems to be cut off")
        }
    }

    /// Adds a rate, unless the same one is there.
    private mutating func add(_ quote: Quote, _ column: Int) throws(RateFileError) {
        guard let place = places.updateValue(quotes.count, forKey: quote.day + quote.currency) else {
            return quotes.append(quote)
        }
        let known = quotes[place]
        places[quote.day + quote.currency] = place
        if Double(known.units) == Double(quote.units) { return }
        throw error(
            quote.line,
            column,
            "the rate of \(quote.currency) on \(quote.day) is \(quote.units), but \(known.units) in line \(known.line); a day has one rate"
        )
    }

    /// - Parameter place: Of the column, from 0.
    private func error(_ line: Int, _ place: Int, _ problem: String) -> RateFileError {
        let name = place < names.count ? names[place] : ""
        let shownName = name.isEmpty ? "without a name" : printable(name, limit: 60)
        return .cell(path: path, line: line, column: place + 1, name: shownName, problem: problem)
    }

    private static func unknown(_ code: String) -> String {
        "\(shown(code)) is no currency code of ISO 4217, such as USD"
    }

    private static func rule(_ cell: String) -> String {
        "the rate is \(shown(cell)); it must be a decimal number above 0, such as 1.0823"
    }
}

/// One row of a file of rates.
private struct Row {
    /// The line of the file in which the row begins, from 1.
    let line: Int
    let isEndedByFile: Bool
    let cells: [String]

    init(record: borrowing CSVRecord) {
        line = record.line
        isEndedByFile = record.isEndedByFile
        cells = (0..<record.count).map { record.text($0) }
    }
}

/// A rate as PostgreSQL computes it: `units` divided by `divisor`, both decimal numbers.
struct Rate: Equatable {
    /// Such as `2026-11-27`.
    let day: String
    let currency: String
    let units: String
    let divisor: String
    /// The line of the file.
    let line: Int
}

private func shown(_ cell: String) -> String { printable(cell, limit: 60, quoted: true) }

/// Whether a cell is a decimal number above 0.
///
/// An exponent is allowed, because programs write small rates with one, such as `3.9e-05`.
private func isRate(_ cell: String) -> Bool {
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    // `Double` also reads signs, words and other bases.
    guard let first = cell.utf8.first, digits.contains(first), cell.utf8.count <= 40,
        cell.utf8.allSatisfy({ digits.contains($0) || ".eE+-".utf8.contains($0) }), let value = Double(cell)
    else { return false }
    // A number beyond these bounds is no rate of two currencies.
    return value >= 1e-12 && value <= 1e12
}

/// A date such as `2026-11-27`; `nil` for one that does not exist.
private func calendarDay(_ text: String) -> String? {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.map(\.utf8.count) == [4, 2, 2] else { return nil }
    return existing(year: parts[0], month: parts[1], day: parts[2])
}

/// A date such as `26 November 2026`, which the European Central Bank writes into `eurofxref.csv`.
private func longDay(_ text: String) -> String? {
    let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]
    let parts = text.split(separator: " ", omittingEmptySubsequences: false)
    guard parts.count == 3, let month = months.firstIndex(of: String(parts[1])) else { return nil }
    return existing(year: parts[2], month: "\(month + 1)", day: parts[0])
}

/// The date as `2026-11-27`; `nil` for parts that are no numbers, or a date that does not exist.
private func existing(year: Substring, month: Substring, day: Substring) -> String? {
    // A sign is no digit, but `Int64` reads it.
    guard let years = UInt32(year), let months = UInt32(month), let days = UInt32(day), year.utf8.count == 4,
        !(year + month + day).utf8.contains(UInt8(ascii: "+")),
        daysSince1970(year: Int64(years), month: Int64(months), day: Int64(days)) != nil
    else { return nil }
    func twoDigits(_ number: UInt32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(year)-\(twoDigits(months))-\(twoDigits(days))"
}
