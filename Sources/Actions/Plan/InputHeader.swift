import ActionKinds
import AppStoreModel
import Basics
import CSVFormat
import JobFiles
import StrictJSON

/// The header of an input: which cells are kept, and where the action's columns are.
struct InputHeader {
    /// The kept columns, in their order.
    let columns: [String]
    /// The places of the kept columns in a record.
    private let places: [Int]
    /// The place of each of the action's columns in a record; `nil` if the input lacks it.
    private let placesOfAction: [Int?]
    private let action: any AppStoreAction.Type
    private let defaults: [String: ActionValue]
    /// The number of cells of a record.
    let width: Int

    /// - Parameters:
    ///   - names: The header as it was read.
    ///   - input: The name of the input for messages.
    ///   - job: Has the action and the default values.
    /// - Throws: ``ActionInputError``, ``CSVFormat/CSVError``.
    init(_ names: [String], of input: String, for job: ActionJob) throws {
        action = job.action
        defaults = job.defaults
        width = names.count
        let known = job.action.columns.map(\.name)
        for name in known where names.count(where: { $0 == name }) > 1 {
            throw ActionInputError.unreadable(.ambiguousColumn(path: input, name: name))
        }
        for column in job.action.columns where !names.contains(column.name) {
            if column.isRequired {
                throw ActionInputError.missingColumn(input: input, column: column.name, found: names)
            }
        }
        let results = ResultColumns.all + job.action.resultColumns.map(\.column)
        for name in names where !known.contains(name) && !results.contains(name) {
            let missing = known.filter { !names.contains($0) }
            if let column = nearest(to: name, among: missing) {
                throw ActionInputError.unknownColumn(input: input, column: name, nearest: column)
            }
        }
        for column in job.action.columns
        where column.needsValue && !names.contains(column.name) && job.defaults[column.name] == nil {
            let key = "\(job.action.name.rawValue).\(column.key)"
            throw ActionInputError.noValue(input: input, column: column.name, key: key)
        }
        // A result file can be the input of a new batch. Its result columns belong to an earlier batch, so they are not kept.
        places = names.indices.filter { !results.contains(names[$0]) }
        columns = places.map { names[$0] }
        placesOfAction = known.map { name in names.firstIndex(of: name) }
    }

    /// Reads one record.
    ///
    /// - Parameters:
    ///   - position: From 1.
    ///   - line: The line of the file; `nil` without one.
    ///   - cells: Without surrounding white space. Missing cells count as empty.
    /// - Returns: The row with its values, or with the rule that it breaks.
    func row(_ position: Int64, line: Int?, _ cells: [String]) -> InputRow {
        func cell(_ place: Int) -> String { place < cells.count ? cells[place] : "" }
        var row = InputRow(position: position, line: line, input: places.map(cell))
        // An erasure finds a row by its subject, so an invalid row also has one if it can be read. Of an invalid row about a seat, it is
        // the subscription.
        let named = action.subjectKind == .seat ? "original_transaction_id" : action.subject
        if let place = action.columns.firstIndex(where: { $0.name == named }),
            let cellPlace = placesOfAction[place],
            case .text(let subject) = action.columns[place].value(cell(cellPlace))
        {
            row.subject = subject
            row.group = action.groupsRows ? subject : nil
        }
        guard cells.dropFirst(width).allSatisfy(\.isEmpty) else {
            row.problem = ("cells", "the row has \(cells.count) cells, the header has \(width)")
            return row
        }
        var values: [(String, ActionValue)] = []
        for (column, place) in zip(action.columns, placesOfAction) {
            let text = place.map(cell) ?? ""
            if text.isEmpty {
                if let value = defaults[column.name] {
                    values.append((column.name, value))
                } else if column.needsValue {
                    row.problem = (column.name, "\(column.name) is missing; it must be \(column.rule)")
                    return row
                }
            } else {
                do throws(ActionColumn.Problem) {
                    values.append((column.name, try column.read(text)))
                } catch {
                    row.problem = (error.rule, error.reason)
                    return row
                }
            }
        }
        let parameters = ActionParameters(values)
        if let problem = action.problem(of: parameters) {
            row.problem = problem
        } else {
            row.parameters = parameters
            row.subject = action.subject(of: parameters)
        }
        return row
    }

    /// A row that a policy does not answer.
    ///
    /// - Parameters:
    ///   - position: From 1.
    ///   - cells: The cells of the kept columns.
    ///   - rule: The number of the policy's rule, from 1.
    /// - Returns: The row, without values to send.
    func unanswered(_ position: Int64, _ cells: [String], rule: Int) -> InputRow {
        var row = InputRow(position: position, line: nil, input: cells)
        row.subject = action.subject.flatMap { subject in columns.firstIndex(of: subject) }.map { cells[$0] }
        row.problem = (Self.unansweredRule, "rule \(rule) of the policy answers none")
        return row
    }

    /// The rule of a row that the policy does not answer; check_rows.sql makes such a row ineligible, not invalid.
    private static let unansweredRule = "answer_none"
}

/// One row of the input.
struct InputRow {
    let position: Int64
    let line: Int?
    /// The kept cells.
    let input: [String]
    /// The ID of what the row changes, if it can be read.
    var subject: String?
    /// The ``subject`` for an action that groups rows, also of a row without content.
    var group: String?
    /// `nil` for a row with a ``problem``.
    var parameters: ActionParameters?
    /// The rule that the row breaks, and the reason as a sentence.
    var problem: (rule: String, reason: String)?
    /// The verdict of an input that checks its rows itself; the ledger then checks nothing.
    var verdict: Verdict?
    /// What Apple said of the row's subject when the batch was planned.
    var answer: JSONObject?

    /// See `action_rows.verdict`.
    enum Verdict: String, Sendable { case valid, invalid, ineligible, duplicate, same }
}
