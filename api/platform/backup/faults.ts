export type BackupFaultCode = 'damaged' | 'wrong-passphrase' | 'incomplete' | 'newer-version' | 'other-format';

/** Why a backup cannot be read; the code appears as `notRestorableReason`. */
export class BackupFault extends Error {
  readonly code: BackupFaultCode;
  constructor(code: BackupFaultCode, message: string) {
    super(message);
    this.code = code;
  }
}
