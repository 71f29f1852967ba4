// The backup before an upgrade, where the server's settings ask for one: how a resource says that it is to go on without.
/** Its value is the version that the upgrade leads to, so that it holds for no later one. */
export const WITHOUT_BACKUP = 'foyer.media/upgrade-without-backup';

/** What to do about one that failed, in a cluster: the version before still serves. */
export const howToGoOn = (version: string): string =>
  `mend what it failed by; or switch beforeUpgrade off in the settings of backups; or, to upgrade without one, set the annotation ${WITHOUT_BACKUP} to ${version}`;

/** The same on one machine, where nothing serves meanwhile; `server` is the resource that carries the annotation, and its file. */
export const howToGoOnHere = (version: string, server: string): string =>
  `mend what it failed by: it is tried again after 5 minutes, and at each start; or, to upgrade without one, set the annotation ${WITHOUT_BACKUP}: ${version} of ${server}; or start the version before again, which works as it did`;
