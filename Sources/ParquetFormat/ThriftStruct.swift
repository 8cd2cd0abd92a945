/// A struct in Thrift's compact protocol, the encoding of all metadata in a Parquet file.
///
/// Fields must be appended in the order of their numbers. Source: the Thrift specification, "Thrift Compact protocol
/// encoding".
struct ThriftStruct {
    private enum FieldType: UInt8 {
        case yes = 1
        case no = 2
        case int32 = 5
        case int64 = 6
        case binary = 8
        case list = 9
        case structure = 12
    }

    private var fields: [UInt8] = []
    private var lastNumber = 0

    /// The fields and the stop byte.
    var bytes: [UInt8] { fields + [0] }

    mutating func append(_ number: Int, _ value: Bool) {
        begin(number, value ? .yes : .no)
    }

    mutating func append(_ number: Int, _ value: Int32) {
        begin(number, .int32)
        appendZigzag(Int64(value))
    }

    mutating func append(_ number: Int, _ value: Int64) {
        begin(number, .int64)
        appendZigzag(value)
    }

    mutating func append(_ number: Int, _ value: String) {
        append(number, Array(value.utf8))
    }

    mutating func append(_ number: Int, _ value: [UInt8]) {
        begin(number, .binary)
        appendBinary(value)
    }

    mutating func append(_ number: Int, _ value: ThriftStruct) {
        begin(number, .structure)
        fields += value.bytes
    }

    mutating func append(_ number: Int, _ values: [Int32]) {
        beginList(number, .int32, values.count)
        for value in values { appendZigzag(Int64(value)) }
    }

    mutating func append(_ number: Int, _ values: [String]) {
        beginList(number, .binary, values.count)
        for value in values { appendBinary(Array(value.utf8)) }
    }

    mutating func append(_ number: Int, _ values: [ThriftStruct]) {
        beginList(number, .structure, values.count)
        for value in values { fields += value.bytes }
    }

    private mutating func begin(_ number: Int, _ type: FieldType) {
        let step = number - lastNumber
        precondition((1...15).contains(step), "the fields are not in order")
        fields.append(UInt8(step) << 4 | type.rawValue)
        lastNumber = number
    }

    private mutating func beginList(_ number: Int, _ type: FieldType, _ count: Int) {
        begin(number, .list)
        if count < 15 {
            fields.append(UInt8(count) << 4 | type.rawValue)
        } else {
            fields.append(0xF0 | type.rawValue)
            fields.appendVarint(UInt64(count))
        }
    }

    private mutating func appendBinary(_ value: [UInt8]) {
        fields.appendVarint(UInt64(value.count))
        fields += value
    }

    private mutating func appendZigzag(_ value: Int64) {
        fields.appendVarint(UInt64(bitPattern: value << 1 ^ value >> 63))
    }
}
