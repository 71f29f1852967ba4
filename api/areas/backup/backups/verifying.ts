/** Binds a sealed passphrase to its verification. */
export const verifyPlace = (backupId: string): string => `jobs|backup.verify|${backupId}`;
