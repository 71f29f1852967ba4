// Rules of every page: text as text, targets, accessibility, refusals, upgrades, plain http.
import type { Break } from './break.ts';

const PHONE = 'test/web/pages-phone.slow.test.ts';
const AXE = 'finds nothing on setup, sign-in and home';
const OLD_TABS = 'goes on in the old tabs with the old chunks';

export const everywhere: readonly Break[] = [
  {
    rule: 'the title of a card is text',
    file: 'web/src/features/library/cells.ts',
    text: "part(cell, 'fy-name').textContent = item ? item.title : label;",
    instead: "part(cell, 'fy-name').innerHTML = item ? item.title : label;",
    test: 'test/web/hostile.slow.test.ts',
    title: 'are texts that stay on the page at 360 px',
  },
  {
    rule: 'the name of a library is text',
    file: 'web/src/features/shell/Shell.svelte',
    text: '<span>{place.label}</span>',
    instead: '<span>{@html place.label}</span>',
    test: 'test/web/hostile.slow.test.ts',
    title: 'are texts that stay on the page at 360 px',
  },
  {
    rule: 'a long name stays on a narrow page',
    file: 'web/src/features/auth/AuthFrame.svelte',
    text: '    overflow-wrap: anywhere;\n  }\n\n  .brand {',
    instead: '  }\n\n  .brand {',
    test: 'test/web/hostile.slow.test.ts',
    title: 'are texts that stay on the page at 360 px',
  },
  {
    rule: 'a finger hits each control within 44 px',
    file: 'web/src/ui/Check.svelte',
    text: 'min-block-size: max(var(--small-control), calc(var(--control) - 12px));',
    instead: 'min-block-size: 24px;',
    test: PHONE,
    title: 'is for everyone',
    env: { PAGES: '(auth)/sign-in' },
  },
  {
    rule: 'a field has its label',
    file: 'web/src/ui/Field.svelte',
    text: '<label for={id}>{label}</label>',
    instead: '<label>{label}</label>',
    test: 'test/web/axe.test.ts',
    title: AXE,
  },
  {
    rule: 'texts stand out from their ground',
    file: 'web/src/ui/Check.svelte',
    text: 'color: var(--fy-color-text-secondary);',
    instead: 'color: var(--fy-color-text-disabled);',
    test: 'test/web/axe.test.ts',
    title: AXE,
  },
  {
    rule: 'a refusal has its next step',
    file: 'web/src/ui/Failure.svelte',
    text: '{#if next}<p class="next">{next}</p>{/if}',
    instead: '',
    test: 'test/web/failures.slow.test.ts',
    title: 'have a sentence, a next step and their request id, whatever the code',
  },
  {
    rule: 'an issue of a form is at its field',
    file: 'web/src/features/auth/attempt.svelte.ts',
    text: '(problem ? issuesOf(problem, field)[0]?.message : undefined)',
    instead: '(problem ? undefined : field)',
    test: 'test/web/failures.slow.test.ts',
    title: 'put their issues at the fields of a form',
  },
  {
    rule: 'the chunks of the version before stay',
    file: 'api/web/other-versions.ts',
    text: 'const KEPT = 2;',
    instead: 'const KEPT = 1;',
    test: 'test/web/upgrade.slow.test.ts',
    title: OLD_TABS,
  },
  {
    rule: 'a pod serves the chunks of another version',
    file: 'api/web/serve.ts',
    text: 'ctx.path.startsWith(CHUNKS) ? await versions.find(ctx.path) : undefined',
    instead: 'undefined',
    test: 'test/web/upgrade.slow.test.ts',
    title: OLD_TABS,
  },
  {
    rule: 'plain http has leases in place of Web Locks',
    file: 'web/src/core/api/client.ts',
    text: 'navigator.locks\n  ? webLocks(navigator.locks)\n  : leases({ storage: localStorage, now: Date.now, sleep, newId });',
    instead: 'webLocks(navigator.locks);',
    test: 'test/web/plain-http.slow.test.ts',
    title: 'leads from the first start to Home',
  },
  {
    rule: 'plain http copies without a clipboard',
    file: 'web/src/ui/copy.ts',
    text: 'if (navigator.clipboard) {',
    instead: 'if (navigator) {',
    test: 'test/web/plain-http.slow.test.ts',
    title: 'plays a file and a stream with subtitles, keeps the position, and copies',
  },
];
