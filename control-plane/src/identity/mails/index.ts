export {
  accountDeletedLetter,
  addressChangedLetter,
  addressChangeLetter,
  addressChangeNotice,
  passwordChangedLetter,
  resetPasswordLetter,
  secondFactorResetLetter,
  tokenReusedLetter,
  verifyAddressLetter,
} from './letters.ts';
export { linkTo } from './links.ts';
export { listOfRevoked } from './revoked.ts';
export type { Revoked } from './revoked.ts';
