/// The version of StoreLedger, of both executables and of the packages.
///
/// It has no other place: scripts read it from this line with `storeledger_version` of scripts/lib/product.sh.
package let storeLedgerVersion = "0.1.0"
