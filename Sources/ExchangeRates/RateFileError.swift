package import Basics
package import CSVFormat

/// Why a file of rates is refused; nothing of it was imported.
package enum RateFileError: ExplainedError, Sendable {
    case unreadable(CSVError)
    /// The first row is the header of neither form.
    case unknownHeader(path: String, found: String)
    /// A cell breaks a rule, or a row ends before it.
    case cell(path: String, line: Int, column: Int, name: String, problem: String)
    /// The file has rates, but none of the reporting currency.
    case withoutCurrency(path: String, currency: String)
    /// A rate of a day that has not come.
    case future(path: String, day: String, line: Int, today: String)
    /// The file has rates only of the reporting currency itself.
    case onlyItself(path: String, currency: String)
    case noRates(path: String)

    private var problem: String {
        switch self {
        case .unreadable(let error):
            error.description
        case .unknownHeader(let path, let found):
            "\(path):1: column 1: the file begins with \(found); the first line must be that of the European Central Bank's "
                + "eurofxref-hist.csv (Date,USD,JPY,…), or day,currency,rate."
        case .cell(let path, let line, let column, let name, let problem):
            "\(path):\(line): column \(column) (\(name)): \(problem)."
        case .withoutCurrency(let path, let currency):
            "\(path):1: there is no column \(currency), so its rates cannot be converted to \(currency); name another --currency."
        case .future(let path, let day, let line, let today):
            "\(path):\(line): column 1: the day \(day) is in the future; today is \(today) UTC."
        case .onlyItself(let path, let currency):
            "\(path): every row is of \(currency), the currency of --currency, whose rate is always 1; name the other currencies."
        case .noRates(let path):
            "\(path): there are no rates."
        }
    }

    package var sentence: String { "\(problem) Nothing was imported" }

    package var status: ExitStatus {
        if case .unreadable(let error) = self, error.isMissingInput { return .missingInput }
        return .badInput
    }
}
