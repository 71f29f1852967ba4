/** The details of `AUTH_2FA_REQUIRED`: what the right password is answered with. */
export interface Challenge {
  challenge: string;
  methods: readonly ('totp' | 'recovery-code' | 'passkey')[];
  passkey?: object;
  expiresAt: string;
}
