export {
  accountDeletedLetter,
  addressChangedLetter,
  addressChangeLetter,
  addressChangeNotice,
  passwordChangedLetter,
  resetPasswordLetter,
  secondFactorResetLetter,
  secondFactorTriedLetter,
  tokenReusedLetter,
  verifyAddressLetter,
} from './letters.ts';
export { linkTo } from './links.ts';
