import type { SetupState } from 'foyer-client';
import * as m from '#messages/setup.ts';

export type Step = 'code' | 'server' | 'libraries' | 'checks' | 'owner' | 'ready';

/** The wizard has no step for values that resources declare: where they declare the server and its libraries only code and owner are left. */
export function stepsOf(setup: SetupState | undefined): readonly Step[] {
  const managed = setup?.managed ?? [];
  const libraries = managed.some((name) => name.startsWith('libraries.'));
  const server = libraries || managed.includes('server.name');
  return [
    'code',
    ...(server ? [] : ['server' as const]),
    ...(libraries ? [] : ['libraries' as const, 'checks' as const]),
    'owner',
  ];
}

export function titleOf(step: Step | undefined, server: string): string {
  const titles: Readonly<Record<Step, () => string>> = {
    code: m.codeTitle,
    server: m.serverTitle,
    libraries: m.librariesTitle,
    checks: m.checksTitle,
    owner: m.ownerTitle,
    ready: () => m.readyTitle({ server }),
  };
  return step ? titles[step]() : m.setup();
}
