/** Binds a passphrase to the verification that it was given for. */
export const verifyPlace = (backupId: string): string => `jobs|backup.verify|${backupId}`;
