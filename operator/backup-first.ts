// The backup before an upgrade, where the server's settings ask for one: how a resource says that it is to go on without.
/** Its value is the version that the upgrade leads to, so that it holds for no later one. */
export const WITHOUT_BACKUP = 'foyer.media/upgrade-without-backup';

/** What to do about one that failed. */
export const howToGoOn = (version: string): string =>
  `mend what it failed by; or switch beforeUpgrade off in the settings of backups; or, to upgrade without one, set the annotation ${WITHOUT_BACKUP} to ${version}`;
