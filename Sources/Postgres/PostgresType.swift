/// Object identifiers of built-in types; PostgreSQL never changes them (`pg_type.dat`).
enum PostgresType: UInt32 {
    case boolean = 16
    case bytea = 17
    case bigint = 20
    case integer = 23
    case text = 25
    case textArray = 1_009
    case timestamptz = 1_184
    case uuid = 2_950
    case jsonb = 3_802

    /// The type a cell is sent as; `nil` for NULL, whose type the server infers.
    init?(of cell: Cell) {
        switch cell {
        case .null: return nil
        case .text: self = .text
        case .integer: self = .integer
        case .bigint: self = .bigint
        case .boolean: self = .boolean
        case .timestamp: self = .timestamptz
        case .jsonb: self = .jsonb
        case .uuid: self = .uuid
        case .textArray: self = .textArray
        case .bytea: self = .bytea
        }
    }

    init(of column: ColumnType) {
        switch column {
        case .text: self = .text
        case .integer: self = .integer
        case .bigint: self = .bigint
        case .boolean: self = .boolean
        case .timestamptz: self = .timestamptz
        case .jsonb: self = .jsonb
        case .uuid: self = .uuid
        case .textArray: self = .textArray
        case .bytea: self = .bytea
        }
    }
}
