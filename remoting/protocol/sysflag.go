package protocol

// SysFlag holds the system bits of a stored message (MessageSysFlag).
type SysFlag int32

// The bits of a SysFlag.
const (
	SysFlagCompressed      SysFlag = 0x1
	SysFlagMultiTags       SysFlag = 0x2
	SysFlagTransactionMask SysFlag = 0xC
	SysFlagTransPrepared   SysFlag = 0x4
	SysFlagTransCommit     SysFlag = 0x8
	SysFlagTransRollback   SysFlag = 0xC
	SysFlagBornHostV6      SysFlag = 0x10
	SysFlagStoreHostV6     SysFlag = 0x20
	SysFlagNeedUnwrap      SysFlag = 0x40
	SysFlagInnerBatch      SysFlag = 0x80
	SysFlagCompressionMask SysFlag = 0x700
	SysFlagLZ4             SysFlag = 0x100
	SysFlagZSTD            SysFlag = 0x200
	SysFlagZLIB            SysFlag = 0x300
)
