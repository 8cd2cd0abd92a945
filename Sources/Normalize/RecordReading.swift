import AppStoreModel
import LedgerTables

/// What one object of Apple's holds for the ledger.
struct RecordReading {
    /// By column name; an absent or unusable field has none.
    var cells: [String: Cell] = [:]
    /// Elements of lists of objects, by the list's key.
    var lists: [String: [Element]] = [:]
    /// Texts of nested signed payloads, by the field's key.
    var signed: [String: String] = [:]

    struct Element {
        /// Place in Apple's list, from 0; elements that are no objects leave a gap.
        let position: Int
        let reading: RecordReading
    }

    /// The cells in the order of the table's columns.
    func row(of table: Table) -> Row {
        table.columns.map { cells[$0.name] ?? .null }
    }
}

/// Reads records by their shapes and remembers what was not as documented.
struct RecordReader {
    let kind: RecordKind
    private(set) var issues: [(path: String, found: String)] = []
    private(set) var drift: [SchemaDrift] = []

    init(kind: RecordKind) {
        self.kind = kind
    }

    mutating func read(_ object: JSONObject, by map: ColumnMap, at path: FieldPath = .root) -> RecordReading {
        var reading = RecordReading()
        read(object, by: map, at: path, into: &reading)
        return reading
    }

    mutating func note(_ found: String, at path: FieldPath) {
        issues.append((path.exact, found))
    }

    private mutating func read(
        _ object: JSONObject,
        by map: ColumnMap,
        at path: FieldPath,
        into reading: inout RecordReading
    ) {
        for member in object.members {
            guard let entry = map[member.key] else {
                noteUnknownField(member, in: path)
                continue
            }
            guard member.value != .null else { continue }
            read(member.value, by: entry, at: path.appending(member.key), into: &reading)
        }
    }

    private mutating func read(
        _ value: JSONValue,
        by entry: ColumnMap.Entry,
        at path: FieldPath,
        into reading: inout RecordReading
    ) {
        switch (entry.field.type, entry.nested) {
        case (.object, let nested?):
            guard let object = value.object else { return note(wrong(value, "an object"), at: path) }
            read(object, by: nested, at: path, into: &reading)
        case (.objectArray, let nested?):
            guard let elements = value.array else { return note(wrong(value, "an array of objects"), at: path) }
            reading.lists[entry.field.key] = read(elements, by: nested, at: path)
        case (.signed, _):
            guard let text = value.string else { return note(wrong(value, "a JWS in text"), at: path) }
            reading.signed[entry.field.key] = text
        default:
            reading.cells[entry.column] = cell(of: value, as: entry.field.type, at: path)
        }
    }

    private mutating func read(
        _ elements: [JSONValue],
        by map: ColumnMap,
        at path: FieldPath
    ) -> [RecordReading.Element] {
        var readings: [RecordReading.Element] = []
        for (position, element) in elements.enumerated() {
            let place = path.appending(position: position)
            guard let object = element.object else {
                note(wrong(element, "an object"), at: place)
                continue
            }
            readings.append(RecordReading.Element(position: position, reading: read(object, by: map, at: place)))
        }
        return readings
    }

    private mutating func cell(of value: JSONValue, as type: FieldType, at path: FieldPath) -> Cell? {
        switch ScalarReading(value, as: type) {
        case .asDocumented(let cell):
            return cell
        case .unknownValue(let cell, let text):
            noteDrift("\(path.general)=\(text)", sample: value)
            return cell
        case .mended(let cell, let found):
            note(found, at: path)
            return cell
        case .unusable(let found):
            note(found, at: path)
            return nil
        }
    }

    private func wrong(_ value: JSONValue, _ right: String) -> String {
        "found \(ForeignText.description(of: value)); it must be \(right)"
    }

    private mutating func noteUnknownField(_ member: JSONObject.Member, in path: FieldPath) {
        noteDrift(path.appending(member.key).general, sample: member.value)
    }

    private mutating func noteDrift(_ path: String, sample: JSONValue) {
        let path = ForeignText.shortened(ForeignText.masked(path), limit: 200)
        drift.append(SchemaDrift(kind: kind.rawValue, path: path, sample: ForeignText.sample(of: sample)))
    }
}
