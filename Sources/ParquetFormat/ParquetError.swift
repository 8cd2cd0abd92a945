/// Why a Parquet file could not be written.
package enum ParquetError: Error, Equatable {
    /// The file could not be written; the value of `errno`.
    case cannotWrite(errno: Int32)
    /// A page could not be compressed; what libzstd says.
    case cannotCompress(String)
}
