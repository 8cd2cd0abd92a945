import AppStoreModel
import LedgerSchema
import Postgres
import StrictJSON

/// The cells and nested values of one object from Apple.
struct RecordReading {
    let map: ColumnMap
    /// In the order of the map's columns.
    ///
    /// A column is NULL if its field is absent or unusable, or if no field fills it.
    fileprivate(set) var cells: [Cell]
    /// The elements of lists of objects, by the list's key.
    fileprivate(set) var lists: [String: [Element]] = [:]
    /// The texts of nested signed payloads, by the field's key.
    fileprivate(set) var signed: [String: String] = [:]

    struct Element {
        /// The index in Apple's list, from 0.
        ///
        /// Elements that are not objects leave a gap.
        let position: Int
        let reading: RecordReading
    }

    fileprivate init(by map: ColumnMap) {
        self.map = map
        cells = [Cell](repeating: .null, count: map.columns.count)
    }

    /// The cell of a column; NULL if no field fills it.
    subscript(column: String) -> Cell {
        map.slot(of: column).map { cells[$0] } ?? .null
    }

    /// Fills the columns at the end of every snapshot, if the record has its own table.
    mutating func fill(signedDate: Cell, payloadSHA256: Cell, payload: Cell) {
        guard let slots = map.snapshotSlots else { return }
        cells[slots.signedDate] = signedDate
        cells[slots.payloadSHA256] = payloadSHA256
        cells[slots.payload] = payload
    }

    /// The cells in the order of the table's columns; `added` sets further cells.
    func row(of table: Table, _ added: [(column: String, cell: Cell)] = []) -> Row {
        var row = map.isRow(of: table) ? cells : map.slots(of: table).map { slot in slot.map { cells[$0] } ?? .null }
        for (column, cell) in added {
            // In most tables, the added columns are at the end.
            guard let index = table.columns.lastIndex(where: { $0.name == column }) else { continue }
            row[index] = cell
        }
        return row
    }
}

/// Reads records by their shapes and collects deviations from the documentation.
struct RecordReader {
    let kind: RecordKind
    private(set) var issues: [(path: String, found: String)] = []
    private(set) var drift: [SchemaDrift] = []

    init(kind: RecordKind) {
        self.kind = kind
    }

    /// Reads an object.
    mutating func read(_ object: JSONElement, by map: ColumnMap, at path: FieldPath = .root) -> RecordReading {
        var reading = RecordReading(by: map)
        readMembers(of: object, by: map, at: path, into: &reading)
        return reading
    }

    mutating func note(_ found: String, at path: FieldPath) {
        issues.append((path.exact, found))
    }

    private mutating func readMembers(
        of object: JSONElement,
        by map: ColumnMap,
        at path: FieldPath,
        into reading: inout RecordReading
    ) {
        object.forEachMember(in: map.keys) { index, value in
            guard let index else { return noteDrift(path.appending(value.memberName).general, sample: value) }
            guard !value.isNull else { return }
            readMember(value, by: map.entries[index], in: path, into: &reading)
        }
    }

    /// `path` is the path of the object that has the member.
    private mutating func readMember(
        _ value: JSONElement,
        by entry: ColumnMap.Entry,
        in path: FieldPath,
        into reading: inout RecordReading
    ) {
        var key: String { entry.field.key }
        switch (entry.field.type, entry.nested) {
        case (.object, let nested?):
            guard value.isObject else { return note(mismatch(value, expected: "an object"), at: path.appending(key)) }
            readMembers(of: value, by: nested, at: path.appending(key), into: &reading)
        case (.objectArray, let nested?):
            guard let elements = value.array else {
                return note(mismatch(value, expected: "an array of objects"), at: path.appending(key))
            }
            reading.lists[key] = readElements(elements, by: nested, at: path.appending(key))
        case (.signed, _):
            guard let text = value.string else {
                return note(mismatch(value, expected: "a JWS string"), at: path.appending(key))
            }
            reading.signed[key] = text
        default:
            reading.cells[entry.slot] = cell(of: value, by: entry, in: path)
        }
    }

    private mutating func readElements(
        _ elements: [JSONElement],
        by map: ColumnMap,
        at path: FieldPath
    ) -> [RecordReading.Element] {
        var readings: [RecordReading.Element] = []
        for (position, element) in elements.enumerated() {
            let elementPath = path.appending(position: position)
            guard element.isObject else {
                note(mismatch(element, expected: "an object"), at: elementPath)
                continue
            }
            readings.append(RecordReading.Element(position: position, reading: read(element, by: map, at: elementPath)))
        }
        return readings
    }

    /// Creates the field's path only for an issue, which is rare.
    private mutating func cell(of value: JSONElement, by entry: ColumnMap.Entry, in path: FieldPath) -> Cell {
        switch ScalarReading(value, as: entry.field.type) {
        case .asDocumented(let cell):
            return cell
        case .unknownValue(let cell, let text):
            noteDrift("\(path.appending(entry.field.key).general)=\(text)", sample: value)
            return cell
        case .converted(let cell, let found):
            note(found, at: path.appending(entry.field.key))
            return cell
        case .unusable(let found):
            note(found, at: path.appending(entry.field.key))
            return .null
        }
    }

    private func mismatch(_ value: JSONElement, expected: String) -> String {
        "found \(ForeignText.description(of: value)); it must be \(expected)"
    }

    private mutating func noteDrift(_ path: String, sample: JSONElement) {
        let path = ForeignText.shortened(ForeignText.masked(path), limit: 200)
        drift.append(SchemaDrift(kind: kind, path: path, sample: ForeignText.sample(of: sample.value)))
    }
}
